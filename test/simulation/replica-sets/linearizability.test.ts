/** The checker of register histories accepts exactly those that have an order. */
import { createRandom } from '@shardlab/actor'
import { firstContradiction, type RegisterOperation } from '@shardlab/scenario'
import t from 'tap'

const write = (value: number, began: number, ended: number): RegisterOperation => ({
  kind: 'write',
  value,
  began,
  ended,
})
const read = (value: number, began: number, ended: number): RegisterOperation => ({ kind: 'read', value, began, ended })

t.test('histories with an order', (t) => {
  const histories: readonly (readonly RegisterOperation[])[] = [
    [],
    [read(0, 1, 2), write(1, 3, 4), read(1, 5, 6)],
    // Reads during a write return the old value or the new one.
    [write(1, 1, 10), read(0, 2, 3), read(1, 4, 5)],
    // A write of unknown outcome takes effect late, or never.
    [write(1, 1, Infinity), read(0, 2, 3), write(2, 4, 5), read(2, 6, 7), read(1, 8, 9)],
    [write(1, 1, Infinity), read(0, 2, 3)],
    [write(1, 1, 4), write(2, 2, 3), read(1, 5, 6)],
  ]
  for (const history of histories) t.equal(firstContradiction(0, history), null)
  t.end()
})

t.test('histories without an order, and the operation that contradicts', (t) => {
  const histories: readonly (readonly [readonly RegisterOperation[], RegisterOperation])[] = [
    [[write(1, 1, 2), read(0, 3, 4)], read(0, 3, 4)],
    [[write(1, 1, 10), read(1, 2, 3), read(0, 4, 5)], read(0, 4, 5)],
    [[read(7, 1, 2)], read(7, 1, 2)],
    [[write(1, 1, 2), write(2, 3, 4), read(2, 5, 6), read(1, 7, 8), read(2, 9, 10)], read(1, 7, 8)],
  ]
  for (const [history, wrong] of histories) t.same(firstContradiction(0, history), wrong)
  t.end()
})

/** Operations of a real register, with the moment at which each takes effect. */
function history(seed: number): RegisterOperation[] {
  const random = createRandom(seed).fork('register')
  const effects = Array.from({ length: 14 }, (_, i) => ({ at: 10 * (i + 1), began: 0, ended: 0 })).map(({ at }) => ({
    at,
    began: at - random.fraction() * 25,
    ended: at + random.fraction() * 25,
  }))
  let value = 0
  return effects.map(({ began, ended }, i) => {
    if (random.chance(1, 2)) return read(value, began, ended)
    value = i + 1
    return write(value, began, random.chance(1, 6) ? Infinity : ended)
  })
}

t.test('histories of a register have an order; those with a read from the past or the future have none', (t) => {
  for (let seed = 1; seed <= 200; seed++) {
    const sound = history(seed)
    t.equal(firstContradiction(0, sound), null, `seed ${seed}`)
    const last = Math.max(...sound.map(({ began, ended }) => (ended === Infinity ? began : ended)))
    t.not(firstContradiction(0, [...sound, read(99, last + 1, last + 2)]), null, `seed ${seed}: never written`)
    const written = sound.filter(({ kind, ended }) => kind === 'write' && ended < Infinity)
    if (written.length > 0)
      t.not(firstContradiction(0, [...sound, read(0, last + 1, last + 2)]), null, `seed ${seed}: stale`)
  }
  t.end()
})
