import t from 'tap'
import {
  accumulatorOperators,
  expressionOperators,
  pathOperators,
  rootOperators,
  stageOperators,
  updateModifiers,
  windowFunctions,
} from '../src/index.js'

t.test('every operator has a row that says where it is described and how far it goes', (t) => {
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
      t.match(name, /^\$[a-zA-Z0-9]+$/)
      t.match(row.manualPage, /^(query|update|aggregation)(\/[A-Za-z0-9-]+)?$/, name)
      t.equal(row.note === undefined, row.status === 'complete', `${name}: a partial row says what is missing`)
    }
  }
  t.end()
})
