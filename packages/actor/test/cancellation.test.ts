import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { Cancellation, createDeferred, LinkedAbort } from '@shardlab/actor'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
// Files share a process, and code that was compiled under other flags is rejected.
setFlagsFromString('--no-expose-gc')

t.test('every listener of a cancellation is called once', (t) => {
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

t.test('a listener that is added during the calls is called too, and none is called twice', (t) => {
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

t.test('an unlinked cancellation leaves no listener at its parent', (t) => {
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
  t.equal(links[1]!.signal.aborted, false, 'it was unlinked before')
  t.equal(new LinkedAbort(stopping.signal).signal.aborted, true, 'a later one aborts at once')
  t.end()
})

t.test('the last deferred promise is garbage collected like all others', (t) => {
  const lost = new WeakRef(createDeferred<void>().promise)
  // A WeakRef that was read keeps its target until the end of the turn.
  setImmediate(() => {
    collectGarbage()
    t.equal(lost.deref(), undefined)
    t.end()
  })
})
