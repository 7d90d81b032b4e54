-- Makes a run the commander, unless another one is and its lease is alive, or one
-- has taken over from this run. A commander that the run itself came after, by number
-- and by time, is none: a failover has lost that it went. Who is taken over from is
-- remembered, so that a process that slept through it does not command again when the
-- other has ended.
--
-- KEYS  commander, fence, meta
-- ARGV  1 run  2 actor  3 host  4 milliseconds of the lease
--       5 the highest fencing number that the run has seen
--       6 milliseconds of the server at which it first took the command, "0" never
--       7 the run whose command is taken over, "" for none  8 why
--       9 the process that takes it
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local c = redis.call('HMGET', KEYS[1], 'run', 'fence', 'actor', 'host', 'since', 'until',
  'over:' .. ARGV[1])
if c[7] then
  local ok, o = pcall(cjson.decode, c[7])
  if not ok or type(o) ~= 'table' then o = {} end
  return {'commanded', tostring(o.run), '', tostring(o.actor), tostring(o.host), tostring(o.since), '0', tostring(now), tostring(o.why)}
end
local gone = (tonumber(c[2]) or 0) < tonumber(ARGV[5]) and (tonumber(c[5]) or 0) < tonumber(ARGV[6])
if c[1] and c[1] ~= ARGV[1] and c[1] ~= ARGV[7] and (tonumber(c[6]) or 0) > now and not gone then
  return {'commanded', c[1], c[2] or '', c[3] or '', c[4] or '', c[5] or '', c[6], tostring(now)}
end

-- The counter may have gone back in a failover. The commander's own number, those
-- of the flips and the run's memory are the other witnesses.
local last = math.max(tonumber(c[2]) or 0, tonumber(ARGV[5]))
for _, raw in ipairs(redis.call('HVALS', KEYS[3])) do
  local ok, meta = pcall(cjson.decode, raw)
  if ok and type(meta) == 'table' then last = math.max(last, tonumber(meta.fence) or 0) end
end
local fence = redis.call('INCR', KEYS[2])
if fence <= last then
  fence = last + 1
  redis.call('SET', KEYS[2], string.format('%d', fence))
end
local since = now
if c[1] == ARGV[1] and tonumber(c[5]) then since = tonumber(c[5]) end
local ends = now + tonumber(ARGV[4])
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'actor', ARGV[2], 'host', ARGV[3],
  'fence', string.format('%d', fence), 'since', string.format('%d', since), 'until', string.format('%d', ends), 'process', ARGV[9])
local over = 'over:' .. ARGV[7]
if ARGV[7] ~= '' and ARGV[7] ~= ARGV[1] and not redis.call('HGET', KEYS[1], over) then
  redis.call('HSET', KEYS[1], over, cjson.encode({run = ARGV[1], actor = ARGV[2], host = ARGV[3],
    since = string.format('%d', now), why = ARGV[8]}))
end
redis.call('PERSIST', KEYS[1])
return {'taken', string.format('%d', fence), string.format('%d', since), string.format('%d', ends)}
