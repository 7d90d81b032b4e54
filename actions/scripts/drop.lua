-- Gives the command back, if it is still this one. Who was taken over from stays.
--
-- KEYS  commander
-- ARGV  1 run  2 fence  3 process
local c = redis.call('HMGET', KEYS[1], 'run', 'fence', 'process')
if c[1] ~= ARGV[1] or c[2] ~= ARGV[2] or (c[3] or '') ~= ARGV[3] then
  return {'gone'}
end
redis.call('HDEL', KEYS[1], 'run', 'fence', 'actor', 'host', 'since', 'until', 'process')
return {'dropped'}
