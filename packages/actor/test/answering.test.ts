import t from 'tap'
import { answering, RequestFailedError, StepFailedError, type ReplyOf } from '@shardlab/actor'
import { CommandError, findField } from '@shardlab/bson'

type Reply = ReplyOf<'shard.receive-range'>

const codeOf = ({ error }: Reply): number | undefined =>
  error === null ? undefined : findField(error, 'code')?.asNumber()

t.test('an immediate reply or refusal is returned without a promise', (t) => {
  const reply: Reply = { error: null }
  t.equal(
    answering('shard.receive-range', (): Promise<Reply> | Reply => reply),
    reply,
  )
  for (const [thrown, code] of [
    [new CommandError('NamespaceNotFound', 'gone'), 26],
    [new StepFailedError('shard.migration.started'), 96],
    [new RequestFailedError('timed-out', 'shard02', 'silent', false), 202],
    [new RequestFailedError('unreachable', 'shard02', 'broken', false), 6],
    [new RequestFailedError('unreachable', 'shard02', 'refused', true), 133],
  ] as const) {
    const refusal = answering('shard.receive-range', (): Promise<Reply> | Reply => {
      throw thrown
    })
    t.equal(codeOf(refusal as Reply), code)
  }
  t.end()
})

t.test('a later error is refused in the same way, and errors that clients do not get are rethrown', async (t) => {
  const failing = (error: Error) => answering('shard.receive-range', async (): Promise<Reply> => Promise.reject(error))
  t.equal(codeOf(await failing(new CommandError('NamespaceNotFound', 'gone'))), 26)
  await t.rejects(failing(new TypeError('a defect')), { message: 'a defect' })
  t.throws(
    () =>
      answering('shard.receive-range', (): Promise<Reply> | Reply => {
        throw new TypeError('a defect')
      }),
    { message: 'a defect' },
  )
})
