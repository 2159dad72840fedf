/** What ends a slice, on a clock that moves with the work. */
import { TimeSlice } from '@shardlab/member'
import t from 'tap'

const periodMs = 10

/** Works of a slice of which each takes `workMs`. */
function worksOfSlices(workMs: number, slices: number): number[] {
  let nowMs = 0
  const slice = new TimeSlice({ now: () => nowMs }, { works: 1000, periodMs })
  return Array.from({ length: slices }, () => {
    let works = 0
    do {
      nowMs += workMs
      slice.worked()
      works++
    } while (!slice.isOver)
    slice.begin()
    return works
  })
}

t.test('a slice ends after its works if they are fast', async (t) => {
  for (const works of worksOfSlices(0.001, 3)) t.ok(works >= 1000 && works < 1064, `${works} works`)
})

t.test('slow works make a slice look at the clock more often', async (t) => {
  const [first, ...later] = worksOfSlices(5, 6)
  t.equal(first, 64, 'it learns during its first works')
  for (const works of later.slice(2)) t.ok(works * 5 <= 2 * periodMs, `${works} works of 5 ms`)
})

t.test('a slice that has looked often looks rarely again', async (t) => {
  let nowMs = 0
  let reads = 0
  const now = () => {
    reads++
    return nowMs
  }
  const slice = new TimeSlice({ now }, { works: 100_000, periodMs: 1e9 })
  const work = (count: number) => {
    for (let i = 0; i < count; i++) slice.worked()
  }
  nowMs = 1e9 - 1
  work(64)
  work(16)
  reads = 0
  work(6400)
  t.ok(reads < 110, `${reads} reads`)
})
