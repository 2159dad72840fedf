import { createRandom } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import { behavioursOf } from '@shardlab/sharding'
import t from 'tap'
import type { SwarmPort } from '../src/swarm/client/port.js'
import { SwarmClient } from '../src/swarm/client/swarm-client.js'
import { DocumentsWorker } from '../src/swarm/documents/worker.js'
import { Verdicts } from '../src/swarm/verdicts.js'

/** A router that has run the transaction of an earlier attempt never runs it again. */
const alreadyStarted = { code: 117, errmsg: 'txnNumber 1 for session already started' }

class OtherCommand extends Error {}

const port: SwarmPort = {
  routers: ['mongos01'],
  run(command: Document) {
    const change = (command['updates']?.[0].u ?? command['update'] ?? {}) as Document
    if (command['insert'] !== undefined) return Promise.resolve({ ok: 1, n: command['documents'].length })
    if (change['k'] === undefined && change['$set']?.k === undefined) return Promise.reject(new OtherCommand())
    const failed = { ok: 1, n: 0, nModified: 0, writeErrors: [{ index: 0, ...alreadyStarted }] }
    return Promise.resolve(command['findAndModify'] === undefined ? failed : { ok: 0, ...alreadyStarted })
  },
  wait: () => Promise.resolve(),
}

t.test('a change of a key has an unknown outcome when its router does not repeat the transaction', async (t) => {
  const random = createRandom(1)
  const name = 'ranged'
  const worker = new DocumentsWorker(
    1,
    new SwarmClient(port, random.fork('client')),
    random,
    new Verdicts(({ sentence }) => t.fail(sentence)),
    [{ name, key: { k: 1 }, losesRetryHistory: false }],
    behavioursOf('6.0'),
    { count: 0 },
    null,
  )
  await worker.prepare()
  const { model } = worker.knowledgeOf(name)
  for (let i = 0; i < 100 && model.uncertain === 0; i++)
    await worker.step().catch((error: unknown) => {
      if (!(error instanceof OtherCommand)) throw error
    })
  t.equal(model.uncertain, 1)
})
