import t from 'tap'
import { lonePoints } from '../src/page/components/lone-points.js'

t.test('a point between gaps is lone, and one whose neighbours are those of other lines is not', async (t) => {
  t.same(lonePoints([10, 20, null, 30, null]), [3])
  t.same(lonePoints([10, undefined, 20]), [])
  t.same(lonePoints([null, undefined, 10, undefined, null]), [2])
  t.same(lonePoints([10]), [0])
})
