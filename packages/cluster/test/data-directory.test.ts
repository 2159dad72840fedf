import t from 'tap'
import { checkMemory } from '../src/durable/data-directory.js'

t.test('a directory that needs more memory than there is is refused with all three sizes', async (test) => {
  checkMemory('/data', 2 ** 30, 3 * 2 ** 30)
  test.throws(
    () => checkMemory('/data', 2 ** 30, 2 ** 30),
    /^\/data has 1(\.\d*)? GB of data, which need about 2\.5\d* GB of memory, and this process has 1(\.\d*)? GB: free some/,
  )
})
