import t from 'tap'
import {
  accumulatorOperators,
  expressionOperators,
  findOperator,
  pathOperators,
  rootOperators,
  stageOperators,
  updateModifiers,
  windowFunctions,
  type OperatorRow,
} from '../src/index.js'

t.test('every operator has a row with its manual page and its status', (t) => {
  for (const table of [
    pathOperators,
    rootOperators,
    expressionOperators,
    accumulatorOperators,
    windowFunctions,
    stageOperators,
    updateModifiers,
  ]) {
    for (const [name, row] of table) {
      t.equal(row.name, name)
      t.equal(row.lacks, undefined, name)
      t.match(name, /^\$[a-zA-Z0-9]+$/)
      t.match(row.manualPage, /^(query|update|aggregation)(\/[A-Za-z0-9-]+)?$/, name)
      t.equal(
        row.missing === undefined && row.lacks === undefined && row.deviations === undefined,
        row.status === 'complete',
        `${name}: a partial row says what is missing or lacking`,
      )
    }
  }
  t.end()
})

t.test('no operator lacks anything silently; strict evaluation would refuse it', (t) => {
  const row: OperatorRow = { name: '$a', manualPage: 'aggregation/a', status: 'partial', lacks: 'b', since: 6 }
  const refusing: OperatorRow = { name: '$b', manualPage: 'aggregation/b', status: 'partial', missing: 'c' }
  const find = (over: { languageVersion?: number; strict?: boolean }) =>
    findOperator(new Map([['$a', row]]), '$a', over)
  t.equal(find({}), row)
  t.throws(() => find({ strict: true }), { code: 115, message: '$a is refused in strict mode, as it lacks b' })
  t.equal(find({ languageVersion: 5, strict: true }), undefined, 'an unknown operator is reported as unknown first')
  t.equal(findOperator(new Map([['$b', refusing]]), '$b', { strict: true }), refusing)
  t.end()
})
