-- Finds out whether a plan was applied, once and for all: when it was not, the
-- run's fencing number is raised, so that the same plan, if it still is in some
-- buffer on its way here, is refused when it comes.
--
-- KEYS  controls, meta, commander, fence
-- ARGV  1 control  2 run  3 fence  4 digest  5 milliseconds of the lease  6 process
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('HGET', KEYS[1], ARGV[1])
local present, value = found and '1' or '0', found or ''
local ok, meta = pcall(cjson.decode, redis.call('HGET', KEYS[2], ARGV[1]) or '')
if ok and type(meta) == 'table' and meta.digest == ARGV[4] then
  return {'applied', tostring(meta.version), present, value, ''}
end

local c = redis.call('HMGET', KEYS[3], 'run', 'fence', 'actor', 'host', 'since', 'until', 'process')
if c[1] ~= ARGV[2] or c[2] ~= ARGV[3] or (c[7] or '') ~= ARGV[6] then
  return {'commanded', c[1] or '', c[2] or '', c[3] or '', c[4] or '', c[5] or '', c[6] or '', tostring(now)}
end
local fence = redis.call('INCR', KEYS[4])
if fence <= tonumber(c[2]) then
  fence = tonumber(c[2]) + 1
  redis.call('SET', KEYS[4], string.format('%d', fence))
end
local ends = string.format('%d', now + tonumber(ARGV[5]))
redis.call('HSET', KEYS[3], 'fence', string.format('%d', fence), 'until', ends)
return {'absent', present, value, string.format('%d', fence), c[5] or '0', ends}
