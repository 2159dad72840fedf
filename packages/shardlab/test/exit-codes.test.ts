import t from 'tap'
import { OptionError } from '@shardlab/cluster'
import { exitCodes, reportError } from '../src/exit-codes.js'

t.test('who is to blame decides the exit code', (t) => {
  const written = t.capture(process.stderr, 'write', () => true)
  t.equal(reportError(new OptionError('shards is 0; it must be a whole number from 1 to 1000.')), exitCodes.usage)
  t.equal(reportError(new Error('of our own')), exitCodes.internal)
  t.equal(reportError('no error at all'), exitCodes.internal)
  t.strictSame(
    written().map(({ args }) => args[0]),
    [
      'shardlab: shards is 0; it must be a whole number from 1 to 1000.\n',
      "shardlab: an error of shardlab's own, please report it: of our own\n",
      "shardlab: an error of shardlab's own, please report it: no error at all\n",
    ],
  )
  t.end()
})

t.test('the codes that every command shares', (t) => {
  t.strictSame(exitCodes, { fine: 0, failed: 1, usage: 2, internal: 3 })
  t.end()
})
