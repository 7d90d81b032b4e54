-- Renews the commander's lease and the dead man's time of the controls that its
-- run keeps alive. A control whose time is already over stays over: readers have
-- left its value, and load must not come back unwatched.
--
-- KEYS  commander, meta
-- ARGV  1 run  2 fence  3 process  4 milliseconds of the lease  5... controls
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local c = redis.call('HMGET', KEYS[1], 'run', 'fence', 'actor', 'host', 'since', 'until', 'process')
if c[1] ~= ARGV[1] or c[2] ~= ARGV[2] or (c[7] or '') ~= ARGV[3] then
  return {'commanded', c[1] or '', c[2] or '', c[3] or '', c[4] or '', c[5] or '', c[6] or '', tostring(now)}
end

local ends = string.format('%d', now + tonumber(ARGV[4]))
redis.call('HSET', KEYS[1], 'until', ends)
local answer = {'renewed', ends}
for i = 5, #ARGV do
  local raw = redis.call('HGET', KEYS[2], ARGV[i])
  local ok, meta = pcall(cjson.decode, raw or '')
  if ok and type(meta) == 'table' and meta.run == ARGV[1] and tonumber(meta['until']) then
    if tonumber(meta['until']) >= now then
      redis.call('HSET', KEYS[2], ARGV[i], (string.gsub(raw, '"until":%d+', '"until":' .. ends, 1)))
    else
      answer[#answer + 1] = ARGV[i]
    end
  end
end
return answer
