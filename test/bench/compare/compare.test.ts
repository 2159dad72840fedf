import t, { type Test } from 'tap'
import { runCompare } from './command.js'
import { cpuUsOf } from './cpu-time.js'

/** The exit code, and the first line on standard error. */
async function refused(t: Test, ...args: string[]): Promise<readonly [code: number, line: string]> {
  const { args: writes } = t.capture(process.stderr, 'write', () => true)
  const code = await runCompare(args)
  return [code, String(writes()[0]![0]).split('\n')[0]!]
}

t.test('wrong arguments are refused with one sentence', async (t) => {
  t.same(await refused(t), [2, 'compare: name one commit to compare with.'])
  t.same(await refused(t, 'main', 'other'), [2, 'compare: name one commit to compare with.'])
  t.same(await refused(t, 'main', '--rounds', '2'), [2, 'compare: --rounds must be a whole number from 3: 2'])
  t.match(await refused(t, 'main', '--unheard-of'), [2, /^compare: Unknown option '--unheard-of'/])
  t.same(await refused(t, 'no-such-commit'), [
    2,
    'compare: no-such-commit is no commit of this repository; name a branch, tag or hash.',
  ])
})

t.test('the CPU time of a process covers its threads and grows with work', async (t) => {
  const before = await cpuUsOf(process.pid)
  if (before === null) return t.pass('this operating system does not say')
  const endMs = performance.now() + 20
  while (performance.now() < endMs) Math.random()
  const after = await cpuUsOf(process.pid)
  t.ok(after! > before)
  t.equal(await cpuUsOf(2 ** 22 + 1), null)
})
