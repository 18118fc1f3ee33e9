"""What the Redis queue does on the server. Each script happens as a whole for whoever looks, and may be sent again when
its answer was lost. Commands of Redis 6.2.

A hash beside the stream says which entry each waiting key is: it tells duplicates, and how many are not done with.
"""

# KEYS: stream, waiting. ARGV: key, body, key, body …
# A key waits only while its entry exists: a stream that somebody emptied must not swallow what is put again.
# The entry comes before its key: were the server to fail between, there would be a duplicate, not a loss.
PUT = """
local stream, waiting = KEYS[1], KEYS[2]
local function waits(key)
    local id = redis.call('HGET', waiting, key)
    return id and #redis.call('XRANGE', stream, id, id) == 1
end
for i = 1, #ARGV, 2 do
    if not waits(ARGV[i]) then
        local id = redis.call('XADD', stream, '*', 'key', ARGV[i], 'body', ARGV[i + 1])
        redis.call('HSET', waiting, ARGV[i], id)
    end
end
"""

# KEYS: stream. ARGV: group, consumer, lease in ms, limit. Gives {id, key, body, attempt} of each, oldest first: what
# others kept too long has lower ids than what nobody had yet.
# The group is made here because a server that lost its data forgot it; making it again is refused and does nothing.
TAKE = """
local stream, group, consumer, lease, limit = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
redis.pcall('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
local taken, cursor = {}, '0-0'
repeat
    local claimed = redis.call('XAUTOCLAIM', stream, group, consumer, lease, cursor, 'COUNT', limit - #taken)
    cursor = claimed[1]
    for _, entry in ipairs(claimed[2]) do
        if entry then  -- false where somebody else deleted it from the stream
            local pending = redis.call('XPENDING', stream, group, entry[1], entry[1], 1)
            taken[#taken + 1] = {entry[1], entry[2][2], entry[2][4], pending[1][4]}
        end
    end
until cursor == '0-0' or #taken == limit
if #taken < limit then
    local read = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', limit - #taken, 'STREAMS', stream, '>')
    for _, entry in ipairs(read and read[1][2] or {}) do
        taken[#taken + 1] = {entry[1], entry[2][2], entry[2][4], 1}
    end
end
return taken
"""

# KEYS: stream, waiting. ARGV: group, ms to keep entries, entries to keep, then id, key, id, key …
# Trimming: every entry before the oldest one in somebody's hands, or else before the last one given out, is done with.
# MINID never goes beyond that one, so what is not done stays however old or many; LIMIT is how many the stream has too
# many (Redis takes it with ~ only, which trims whole nodes: up to a hundred entries stay longer).
DONE = """
local stream, waiting, group = KEYS[1], KEYS[2], ARGV[1]
for i = 4, #ARGV, 2 do
    redis.call('XACK', stream, group, ARGV[i])
    if redis.call('HGET', waiting, ARGV[i + 1]) == ARGV[i] then redis.call('HDEL', waiting, ARGV[i + 1]) end
end

local function last_given_out()
    for _, info in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
        if info[2] == group then return info[8] end
    end
end

local pending = redis.pcall('XPENDING', stream, group)
if pending.err then return end  -- neither stream nor group: the server lost its data
local undone = pending[1] > 0 and pending[2] or last_given_out()
local now = redis.call('TIME')
local kept_since = math.floor(now[1] * 1000 + now[2] / 1000 - ARGV[2])
local ms = tonumber(string.match(undone, '^%d+'))
redis.call('XTRIM', stream, 'MINID', '~', ms < kept_since and undone or string.format('%.0f', math.max(0, kept_since)))
local over = redis.call('XLEN', stream) - ARGV[3]
if over > 0 then redis.call('XTRIM', stream, 'MINID', '~', undone, 'LIMIT', over) end
"""
