import { createDeferred, type Deferred } from '@shardlab/actor'
import t from 'tap'
import { WriteLock } from '../src/host/write-lock.js'

/** A lock whose flush and disk wait until the test resolves their promises. */
function held(): { lock: WriteLock; flushed: Deferred<void>; idle: Deferred<void>; isDiskLocked: () => boolean } {
  const [flushed, idle] = [createDeferred<void>(), createDeferred<void>()]
  let isLocked = false
  const disk = {
    lock: () => {
      isLocked = true
      return idle.promise
    },
    unlock: () => void (isLocked = false),
  }
  return { lock: new WriteLock(disk, () => flushed.promise), flushed, idle, isDiskLocked: () => isLocked }
}

t.test('an unlock that comes before the lock is held ends it', async (t) => {
  for (const when of ['during the flush', 'during the last write'] as const) {
    const { lock, flushed, idle, isDiskLocked } = held()
    const locking = t.rejects(lock.lock(), { code: 11601 }, when)
    await Promise.resolve()
    if (when === 'during the last write') flushed.resolve()
    await new Promise(setImmediate)
    t.equal(lock.unlock(), 0)
    flushed.resolve()
    idle.resolve()
    await locking
    t.equal(lock.held, null)
    t.notOk(isDiskLocked(), 'writes go on')
    t.throws(() => lock.unlock(), { code: 20 })
    t.equal(await lock.lock(), 1, 'it can be locked again')
    t.ok(isDiskLocked())
  }
})

t.test('locks are counted, and a failed flush leaves none', async (t) => {
  const { lock, flushed, idle } = held()
  idle.resolve()
  flushed.reject(new Error('no space'))
  await t.rejects(lock.lock(), { message: 'no space' })
  t.equal(lock.held, null)
  const other = held()
  other.flushed.resolve()
  other.idle.resolve()
  t.equal(await other.lock.lock(), 1)
  t.equal(await other.lock.lock(), 2)
  t.equal(other.lock.unlock(), 1)
  t.ok(other.lock.held)
  other.lock.release()
  t.equal(other.lock.held, null)
})
