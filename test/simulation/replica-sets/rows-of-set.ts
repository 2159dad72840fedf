/** A simulated set with the collection `app.rows`, for tests of what clients meet. */
import type { Document } from '@shardlab/bson'
import type { Test } from 'tap'
import { SetUnderTest, type SetUnderTestOptions } from './simulated-set.js'

export async function start(t: Test, options: Partial<SetUnderTestOptions> = {}): Promise<SetUnderTest> {
  const set = await SetUnderTest.start({ seed: 1, ...options })
  t.teardown(() => set.stop())
  return set
}

export const majority = { w: 'majority' }
export const fromSecondary = { $readPreference: { mode: 'secondary' } }
export const insert = (_id: number, writeConcern: Document): Document => ({
  insert: 'rows',
  documents: [{ _id }],
  writeConcern,
})

export async function idsOn(set: SetUnderTest, member: string, rest: Document = {}): Promise<number[]> {
  const reply = await set.command(member, {
    find: 'rows',
    sort: { _id: 1 },
    $readPreference: { mode: 'secondaryPreferred' },
    ...rest,
  })
  return (reply['cursor'].firstBatch as { _id: number }[]).map(({ _id }) => _id)
}
