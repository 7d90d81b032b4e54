-- Tries every kind of write that a run needs, and leaves nothing behind. The
-- keys after the first are those that a run will use: naming them lets Redis
-- check the user's rights to them.
--
-- KEYS  check, controls, meta, changes, commander, fence, version
-- ARGV  none
local types = {[2] = 'hash', [3] = 'hash', [4] = 'stream', [5] = 'hash', [6] = 'string', [7] = 'string'}
for i = 2, 7 do
  local answer = redis.call('TYPE', KEYS[i])
  local is = type(answer) == 'table' and answer.ok or answer
  if is ~= 'none' and is ~= types[i] then
    return {'type', KEYS[i], is, types[i]}
  end
end
redis.call('TIME')
-- INCR must be the first: a server without memory refuses only a script's first
-- write, and lets a DEL through.
redis.call('INCR', KEYS[1])
redis.call('SET', KEYS[1], '1')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'a', '1')
redis.call('HGET', KEYS[1], 'a')
redis.call('HMGET', KEYS[1], 'a')
redis.call('HVALS', KEYS[1])
redis.call('PERSIST', KEYS[1])
redis.call('HDEL', KEYS[1], 'a')
redis.call('XADD', KEYS[1], '*', 'a', '1')
redis.call('DEL', KEYS[1])
return {'fine'}
