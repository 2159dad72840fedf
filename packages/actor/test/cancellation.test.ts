import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { Cancellation, createDeferred, LinkedAbort } from '@shardlab/actor'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
// Files share a process, and compiled code is refused under other flags than it was compiled under.
setFlagsFromString('--no-expose-gc')

t.test('any number may listen to a cancellation, each of them hears of it once', (t) => {
  const warnings: unknown[] = []
  const warned = (warning: unknown): void => void warnings.push(warning)
  process.on('warning', warned)
  const stopping = new Cancellation()
  const heard: number[] = []
  for (let i = 0; i < 99; i++) stopping.signal.addEventListener('abort', () => heard.push(i))
  stopping.signal.addEventListener('abort', { handleEvent: () => heard.push(99) })
  stopping.abort()
  stopping.abort()
  t.same(
    heard,
    Array.from({ length: 100 }, (_, i) => i),
  )
  t.equal(stopping.signal.aborted, true)
  t.equal(stopping.listeners, 0)
  setImmediate(() => {
    process.off('warning', warned)
    t.same(warnings, [])
    t.end()
  })
})

t.test('who begins to listen while others are told hears of it, too, and nobody hears twice', (t) => {
  const stopping = new Cancellation()
  const heard: string[] = []
  const late = (): void => void heard.push('late')
  const first = (): void => {
    heard.push('first')
    stopping.addEventListener('abort', late)
  }
  stopping.addEventListener('abort', first)
  stopping.abort()
  t.same(heard, ['first', 'late'])
  t.equal(stopping.listeners, 0)

  const again = new Cancellation()
  again.addEventListener('abort', late)
  again.addEventListener('abort', () => again.addEventListener('abort', late))
  heard.length = 0
  again.abort()
  t.same(heard, ['late'])
  t.equal(again.listeners, 0)
  t.end()
})

t.test('what was linked to a cancellation and has ended listens no more', (t) => {
  const stopping = new Cancellation()
  const links = Array.from({ length: 20 }, () => new LinkedAbort(stopping.signal))
  t.equal(stopping.listeners, 20)
  links[0]!.abort()
  t.equal(links[0]!.signal.aborted, true)
  t.equal(stopping.signal.aborted, false)
  for (const link of links.slice(1)) link.unlink()
  links[0]!.unlink()
  t.equal(stopping.listeners, 0)
  stopping.abort()
  t.equal(links[1]!.signal.aborted, false, 'it had been unlinked')
  t.equal(new LinkedAbort(stopping.signal).signal.aborted, true, 'one that comes later ends at once')
  t.end()
})

t.test('a promise that nobody holds is not kept because it was the last one', (t) => {
  const lost = new WeakRef(createDeferred<void>().promise)
  // A reference that was read in a turn holds until its end.
  setImmediate(() => {
    collectGarbage()
    t.equal(lost.deref(), undefined)
    t.end()
  })
})
