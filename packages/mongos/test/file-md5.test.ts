/** Manual: reference/command/filemd5. */
import { createHash } from 'node:crypto'
import t from 'tap'
import { realCluster } from './support/real-cluster.js'

t.test('filemd5 asks the shard that has the chunks of the file, and refuses other shard keys', async (t) => {
  const chunks = (files_id: number) => [0, 1].map((n) => ({ files_id, n, data: Buffer.from(`${files_id} ${n}`) }))
  const md5 = (files_id: number) => createHash('md5').update(`${files_id} 0${files_id} 1`).digest('hex')
  const fill = async (cluster: Awaited<ReturnType<typeof realCluster>>) => {
    const key = { files_id: 1, n: 1 }
    await cluster.run({ createIndexes: 'fs.chunks', indexes: [{ key, name: 'files_id_1_n_1' }] })
    await cluster.run({ insert: 'fs.chunks', documents: [...chunks(1), ...chunks(20)] })
  }
  for (const placements of [[], [{ ns: 'test.fs.chunks', field: 'files_id', splits: [10, 30] }]]) {
    const cluster = await realCluster(placements)
    await fill(cluster)
    for (const file of [1, 20])
      t.match(await cluster.run({ filemd5: file, root: 'fs' }), { numChunks: 2, md5: md5(file), ok: 1 })
    t.match(await cluster.run({ filemd5: 1, partialOk: true }), { code: 115 })
  }
  const errmsg = /GridFS fs\.chunks collection must be sharded on either \{files_id:1\} or \{files_id:1, n:1\}$/
  const wrong = [{ ns: 'test.fs.chunks', field: 'n', splits: [1, 2] }]
  t.match(await (await realCluster(wrong)).run({ filemd5: 1 }), { code: 20, errmsg })
  t.match(await (await realCluster(wrong, '4.0')).run({ filemd5: 1 }), { code: undefined, errmsg })
})
