-- Gives the command back, if it is still this one.
--
-- KEYS  commander
-- ARGV  1 run  2 fence
local c = redis.call('HMGET', KEYS[1], 'run', 'fence')
if c[1] ~= ARGV[1] or c[2] ~= ARGV[2] then
  return {'gone'}
end
redis.call('DEL', KEYS[1])
return {'dropped'}
