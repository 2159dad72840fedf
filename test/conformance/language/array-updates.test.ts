/** Update operators on arrays, with the examples of the manual's pages. */
import t from 'tap'
import { runExamples, updateExamples } from './support/language.js'

const arrays = updateExamples([
  [
    { tags: ['electronics', 'supplies'] },
    { $addToSet: { tags: 'accessories' } },
    { tags: ['electronics', 'supplies', 'accessories'] },
  ],
  [{ tags: ['camera'] }, { $addToSet: { tags: 'camera' } }, { tags: ['camera'] }],
  [{ letters: ['a', 'b'] }, { $addToSet: { letters: ['c', 'd'] } }, { letters: ['a', 'b', ['c', 'd']] }],
  [
    { tags: ['electronics', 'supplies'] },
    { $addToSet: { tags: { $each: ['camera', 'electronics', 'accessories'] } } },
    { tags: ['electronics', 'supplies', 'camera', 'accessories'] },
  ],
  [{ a: 1 }, { $addToSet: { tags: 'x' } }, { a: 1, tags: ['x'] }],
  [{ list: [8, 9, 10] }, { $pop: { list: -1 } }, { list: [9, 10] }],
  [{ list: [9, 10] }, { $pop: { list: 1 } }, { list: [9] }],
  [{ list: [] }, { $pop: { list: 1 } }, { list: [] }],
  [
    { fruits: ['apples', 'pears', 'oranges', 'grapes'], v: ['carrots', 'celery'] },
    { $pull: { fruits: { $in: ['apples', 'oranges'] }, v: 'carrots' } },
    { fruits: ['pears', 'grapes'], v: ['celery'] },
  ],
  [{ votes: [3, 5, 6, 7, 7, 8] }, { $pull: { votes: { $gte: 6 } } }, { votes: [3, 5] }],
  [
    {
      results: [
        { item: 'A', score: 5 },
        { item: 'B', score: 8 },
      ],
    },
    { $pull: { results: { score: 8, item: 'B' } } },
    { results: [{ item: 'A', score: 5 }] },
  ],
  [
    {
      results: [
        {
          item: 'A',
          answers: [
            { q: 1, a: 4 },
            { q: 2, a: 6 },
          ],
        },
        {
          item: 'B',
          answers: [
            { q: 1, a: 8 },
            { q: 2, a: 9 },
          ],
        },
      ],
    },
    { $pull: { results: { answers: { $elemMatch: { q: 2, a: { $gte: 8 } } } } } },
    {
      results: [
        {
          item: 'A',
          answers: [
            { q: 1, a: 4 },
            { q: 2, a: 6 },
          ],
        },
      ],
    },
  ],
  [{ scores: [0, 2, 5, 5, 1, 0] }, { $pullAll: { scores: [0, 5] } }, { scores: [2, 1] }],
  [{ scores: [44, 78] }, { $push: { scores: 89 } }, { scores: [44, 78, 89] }],
  [{}, { $push: { scores: 89 } }, { scores: [89] }],
  [{ scores: [44] }, { $push: { scores: { $each: [90, 92] } } }, { scores: [44, 90, 92] }],
  [{ scores: [100] }, { $push: { scores: { $each: [50, 60, 70], $position: 0 } } }, { scores: [50, 60, 70, 100] }],
  [
    { scores: [50, 60, 70, 100] },
    { $push: { scores: { $each: [20, 30], $position: 2 } } },
    { scores: [50, 60, 20, 30, 70, 100] },
  ],
  [
    { scores: [50, 60, 20, 30, 70, 100] },
    { $push: { scores: { $each: [90, 80], $position: -2 } } },
    { scores: [50, 60, 20, 30, 90, 80, 70, 100] },
  ],
  [
    { scores: [40, 50, 60] },
    { $push: { scores: { $each: [80, 78, 86], $slice: -5 } } },
    { scores: [50, 60, 80, 78, 86] },
  ],
  [{ scores: [89, 90] }, { $push: { scores: { $each: [100, 20], $slice: 3 } } }, { scores: [89, 90, 100] }],
  [{ scores: [89, 70, 100, 20] }, { $push: { scores: { $each: [], $slice: -3 } } }, { scores: [70, 100, 20] }],
  [
    {
      quizzes: [
        { id: 1, score: 6 },
        { id: 2, score: 9 },
      ],
    },
    {
      $push: {
        quizzes: {
          $each: [
            { id: 3, score: 8 },
            { id: 4, score: 7 },
            { id: 5, score: 6 },
          ],
          $sort: { score: 1 },
        },
      },
    },
    {
      quizzes: [
        { id: 1, score: 6 },
        { id: 5, score: 6 },
        { id: 4, score: 7 },
        { id: 3, score: 8 },
        { id: 2, score: 9 },
      ],
    },
  ],
  [
    { tests: [89, 70, 89, 50] },
    { $push: { tests: { $each: [40, 60], $sort: 1 } } },
    { tests: [40, 50, 60, 70, 89, 89] },
  ],
  [{ tests: [89, 70, 100, 20] }, { $push: { tests: { $each: [], $sort: -1 } } }, { tests: [100, 89, 70, 20] }],
  [
    {
      quizzes: [
        { wk: 1, score: 10 },
        { wk: 2, score: 8 },
        { wk: 3, score: 5 },
        { wk: 4, score: 6 },
      ],
    },
    {
      $push: {
        quizzes: {
          $each: [
            { wk: 5, score: 8 },
            { wk: 6, score: 7 },
            { wk: 7, score: 6 },
          ],
          $sort: { score: -1 },
          $slice: 3,
        },
      },
    },
    {
      quizzes: [
        { wk: 1, score: 10 },
        { wk: 2, score: 8 },
        { wk: 5, score: 8 },
      ],
    },
  ],
  [{ grades: [85, 82, 80] }, { $inc: { 'grades.$[]': 10 } }, { grades: [95, 92, 90] }],
  [
    {
      grades: [
        { grade: 80, std: 8 },
        { grade: 85, std: 5 },
      ],
    },
    { $inc: { 'grades.$[].std': -2 } },
    {
      grades: [
        { grade: 80, std: 6 },
        { grade: 85, std: 3 },
      ],
    },
  ],
  [
    { grades: [95, 102, 90] },
    { $set: { 'grades.$[element]': 100 } },
    { grades: [95, 100, 90] },
    { arrayFilters: [{ element: { $gte: 100 } }] },
  ],
  [
    {
      grades: [
        { grade: 80, mean: 75 },
        { grade: 85, mean: 90 },
        { grade: 85, mean: 85 },
      ],
    },
    { $set: { 'grades.$[elem].mean': 100 } },
    {
      grades: [
        { grade: 80, mean: 75 },
        { grade: 85, mean: 100 },
        { grade: 85, mean: 100 },
      ],
    },
    { arrayFilters: [{ 'elem.grade': { $gte: 85 } }] },
  ],
  [
    {
      grades: [
        { type: 'quiz', questions: [10, 8, 5] },
        { type: 'exam', questions: [25, 10] },
      ],
    },
    { $inc: { 'grades.$[t].questions.$[score]': 2 } },
    {
      grades: [
        { type: 'quiz', questions: [10, 10, 7] },
        { type: 'exam', questions: [25, 10] },
      ],
    },
    { arrayFilters: [{ 't.type': 'quiz' }, { score: { $lt: 10 } }] },
  ],
  [{ grades: [80, 85, 90] }, { $set: { 'grades.$': 82 } }, { grades: [82, 85, 90] }, { q: { _id: 1, grades: 80 } }],
  [
    {
      grades: [
        { grade: 80, std: 8 },
        { grade: 85, std: 5 },
      ],
    },
    { $set: { 'grades.$.std': 6 } },
    {
      grades: [
        { grade: 80, std: 8 },
        { grade: 85, std: 6 },
      ],
    },
    { q: { _id: 1, 'grades.grade': 85 } },
  ],
  [
    {
      grades: [
        { grade: 80, mean: 75 },
        { grade: 85, mean: 90 },
        { grade: 90, mean: 85 },
      ],
    },
    { $set: { 'grades.$.std': 6 } },
    {
      grades: [
        { grade: 80, mean: 75 },
        { grade: 85, mean: 90, std: 6 },
        { grade: 90, mean: 85 },
      ],
    },
    { q: { _id: 1, grades: { $elemMatch: { grade: { $lte: 90 }, mean: { $gt: 80 } } } } },
  ],
])

t.test('array update operators give the documents of the manual', (t) => runExamples(t, arrays))
