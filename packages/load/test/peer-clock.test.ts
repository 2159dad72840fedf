import t from 'tap'
import { Journal, LaneJournal } from '../src/index.js'
import { PeerClock } from '../src/run/peer-clock.js'

/** Questions of these durations, in microseconds, to a clock that is ahead by as much. */
function compare(clock: PeerClock, atUs: number, aheadUs: number, durationsUs: readonly number[]): void {
  for (const durationUs of durationsUs) {
    const number = clock.begin(atUs)
    clock.end(number, atUs + durationUs / 2 + aheadUs, atUs + durationUs)
  }
}

t.test('the quickest answer gives the difference of the clocks', (t) => {
  const clock = new PeerClock()
  compare(clock, 1000, 5_000_000, [900, 400, 100])
  t.equal(clock.isCompared, false)
  // Most of this time was the way there.
  const number = clock.begin(2000)
  clock.end(number, 2000 + 5_000_000 + 790, 2000 + 800)
  compare(clock, 3000, 5_000_000, [900, 900, 900, 900])
  t.equal(clock.isCompared, true)
  t.equal(clock.peerUs(10_000), 5_010_000)
  t.end()
})

t.test('operations of a generator begin earlier and end later by what the clocks may differ', (t) => {
  const clock = new PeerClock()
  compare(
    clock,
    1000,
    5_000_000,
    Array.from({ length: 8 }, () => 100),
  )
  // The clocks drift by 30 microseconds.
  compare(
    clock,
    900_000,
    5_000_030,
    Array.from({ length: 8 }, () => 100),
  )
  const journal = new LaneJournal(0, 1)
  journal.note(3, true, null, 5_500_000, 5_500_200)
  const local = new Journal([clock.localJournal(journal.data())])
  t.equal(local.outcome(3), 'acknowledged')
  t.equal(local.startUs(3), 500_000 - 130)
  t.equal(local.endUs(3), 500_200 + 130)
  t.equal(local.startUs(4), 0, 'a cycle that did not run')
  t.end()
})

t.test('cycles of a generator that died may have run', (t) => {
  const journal = new LaneJournal(1, 2)
  journal.note(7, true, null, 10, 20)
  const lanes = [new LaneJournal(0, 2).data(), { ...journal.data(), lostBelow: 9 }]
  const merged = new Journal(lanes)
  t.same(
    [1, 7, 9, 2].map((cycle) => merged.outcome(cycle)),
    ['unknown', 'acknowledged', 'none', 'none'],
  )
  t.end()
})
