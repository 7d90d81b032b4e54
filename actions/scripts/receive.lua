-- Takes the oldest entries out of a run's inbox: what was taken is taken by
-- nobody else, and can no longer be recalled. An entry that is too long is taken
-- too, and only its length is told. Of an inbox that is flooded the newest stay.
-- An empty inbox is removed: somebody may have given an entry the highest id that
-- there is, and no other could follow it.
--
-- KEYS  inbox
-- ARGV  1 entries at most  2 bytes of one at most  3 entries that may wait
--       4 seconds that the inbox outlives its last entry
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local length = redis.call('XLEN', KEYS[1])
if length == 0 then
  return {tostring(now), '0'}
end
local lost = 0
if length > tonumber(ARGV[3]) then
  lost = redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[3])
end
local answer = {string.format('%d', now), string.format('%d', lost)}
for i = 1, tonumber(ARGV[1]) do
  local entry = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', '1')[1]
  if not entry then break end
  redis.call('XDEL', KEYS[1], entry[1])
  local fields, size, body = entry[2], 0, ''
  for f = 1, #fields, 2 do
    size = size + string.len(fields[f]) + string.len(fields[f + 1])
    if fields[f] == 'order' then body = fields[f + 1] end
  end
  if size > tonumber(ARGV[2]) then body = '' end
  answer[#answer + 1] = entry[1]
  answer[#answer + 1] = string.format('%d', size)
  answer[#answer + 1] = body
end
if redis.call('XLEN', KEYS[1]) == 0 then
  redis.call('DEL', KEYS[1])
else
  redis.call('EXPIRE', KEYS[1], ARGV[4])
end
return answer
