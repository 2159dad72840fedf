import { createDeferred } from '@shardlab/actor'
import { encode } from '@shardlab/bson'
import t from 'tap'
import { OperationRegistry } from '../src/operations/operation-registry.js'
import { RunningOperation } from '../src/operations/running-operation.js'

function operation(id: number): RunningOperation {
  return new RunningOperation(id, {
    command: 'find',
    db: 'test',
    body: encode({ find: 'c' }),
    connectionId: 1,
    remote: '',
    startedAtMs: 0,
    startedSteadyMs: 0,
  })
}

t.test('a kill ends the waits of an operation', async (t) => {
  const registry = new OperationRegistry()
  const first = registry.begin(operation(registry.nextId()))
  t.equal(first.id, 1)
  const never = first.interruptible(new Promise<void>(() => {}))
  const { signal } = first
  t.ok(registry.kill(1))
  t.notOk(registry.kill(2))
  await t.rejects(never, { code: 11601, message: 'operation was interrupted' })
  t.ok(signal.aborted)
  t.throws(() => first.checkForInterrupt(), { code: 11601 })
  await t.rejects(first.interruptible(Promise.resolve()), { code: 11601 })
  registry.end(first)
  t.equal(registry.size, 0)
})

t.test('the callbacks of interruptible do not run for a killed operation', async (t) => {
  const answered = operation(1)
  t.equal(await answered.interruptible(Promise.resolve(2), (value) => value + 1), 3)
  t.equal(await answered.interruptible(Promise.reject(new Error('no')), undefined, () => 5), 5)
  t.equal(await answered.interruptible<number, number>(Promise.resolve(2), (value) => Promise.resolve(value * 2)), 4)
  await t.rejects(answered.interruptible(Promise.reject(new Error('no'))), { message: 'no' })
  const failing = () => {
    throw new Error('of its use')
  }
  await t.rejects(answered.interruptible(Promise.resolve(1), failing), { message: 'of its use' })
  await t.rejects(answered.interruptible(Promise.reject(new Error('no')), undefined, failing), {
    message: 'of its use',
  })

  const killed = operation(2)
  const [good, bad] = [createDeferred<number>(), createDeferred<number>()]
  let made = 0
  const make = () => ++made
  const waits = [killed.interruptible(good.promise, make, make), killed.interruptible(bad.promise, make, make)]
  killed.interrupt()
  for (const wait of waits) await t.rejects(wait, { code: 11601 })
  good.resolve(1)
  bad.reject(new Error('no'))
  await Promise.resolve().then(() => {})
  t.equal(made, 0)
})

t.test('operations may end during an iteration of the registry', async (t) => {
  const registry = new OperationRegistry()
  const [first, second, third] = [1, 2, 3].map((id) => registry.begin(operation(id))) as [
    RunningOperation,
    RunningOperation,
    RunningOperation,
  ]
  const seen: number[] = []
  for (const { id } of registry) {
    seen.push(id)
    registry.end(first)
    registry.end(second)
  }
  t.same(seen, [1, 2, 3])
  registry.end(second)
  t.same([...registry], [third])
  t.equal(registry.size, 1)
})

t.test('without a kill interruptible returns the result of its promise', async (t) => {
  const one = operation(1)
  t.equal(await one.interruptible(Promise.resolve(7)), 7)
  await t.rejects(one.interruptible(Promise.reject(new Error('its own'))), { message: 'its own' })
  one.interrupt()
  t.ok(one.killed)
})

t.test('stopping the registry ends waits without killing operations', async (t) => {
  const registry = new OperationRegistry()
  const before = registry.begin(operation(1))
  const { signal } = before
  registry.stop()
  t.ok(signal.aborted)
  t.ok(registry.begin(operation(2)).signal.aborted)
  before.checkForInterrupt()
})
