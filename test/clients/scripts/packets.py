"""Prints the packets of a cluster on NATS: arguments host, port. Any msgpack reader can."""
import socket, sys, msgpack
stream = socket.create_connection((sys.argv[1], int(sys.argv[2]))).makefile('rwb')
stream.write(b'CONNECT {}\r\nSUB shardlab.cluster.*.*.packets.* 1\r\nPING\r\n'); stream.flush()
frames = {}
for words in (line.split() for line in stream):
    if words[:1] == [b'PING']: stream.write(b'PONG\r\n'); stream.flush()
    if words[:1] == [b'PONG']: print('ready', flush=True)
    if words[:1] != [b'MSG']: continue
    part = msgpack.unpackb(stream.read(int(words[-1]) + 2)[:-2])
    if len(part) == 5:
        frames.setdefault(words[1], []).append(part[4])
        if part[3] == 0: print(msgpack.unpackb(b''.join(frames.pop(words[1]))), flush=True)
