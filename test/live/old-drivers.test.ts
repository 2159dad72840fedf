/**
 * Requests of drivers from before OP_MSG: the handshake on every version, other commands where the
 * emulated server accepted them.
 */
import t from 'tap'
import { decode, encode } from '@shardlab/bson'
import { ShardedCluster, type EmulatedVersion } from 'shardlab'
import { decodeReply, encodeLegacyCommand } from '@shardlab/wire'
import { RawClient } from '../support/raw-client.js'

for (const [emulate, accepts] of [
  ['4.4', true],
  ['5.0', true],
  ['7.0', false],
] as [EmulatedVersion, boolean][]) {
  t.test(`${emulate} answers OP_QUERY as the server does`, async (t) => {
    const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', emulate })
    const raw = await RawClient.connect(cluster.mongos[0]!)
    t.teardown(async () => {
      raw.close()
      await cluster.stop()
    })
    const ask = async (command: object, flags: number) => {
      const reply = decodeReply(await raw.exchange(encodeLegacyCommand(7, 'admin', encode(command), flags)))
      t.ok(reply.legacy)
      t.equal(reply.responseTo, 7)
      return decode(reply.body)
    }
    for (const flags of [0, 4]) {
      for (const name of ['isMaster', 'ismaster'])
        t.match(await ask({ [name]: 1 }, flags), {
          ismaster: true,
          msg: 'isdbgrid',
          maxBsonObjectSize: 16777216,
          minWireVersion: 0,
          ok: 1,
        })
      t.match(await ask({ buildinfo: 1 }, flags), { version: String, ok: 1 })
    }
    t.match(
      await ask({ listDatabases: 1 }, 4),
      accepts ? { ok: 1 } : { ok: 0, code: 352, codeName: 'UnsupportedOpQueryCommand' },
    )
  })
}
