import fc from 'fast-check';
import range from 'lodash/range';
import {
	BegunRequests,
	RunningExecutions,
} from '../../../../../nodes/shared/n8n/idempotency/begunRequests';

const TARGETS = ['a', 'b', 'c'];

type Step =
	| { kind: 'add'; target: string }
	| { kind: 'removeLatest'; target: string }
	| { kind: 'copy' }
	| { kind: 'takeAll'; sinceCopy: boolean };

const anyTarget = fc.constantFrom(...TARGETS);
const add = fc.record({ kind: fc.constant<'add'>('add'), target: anyTarget });
const step: fc.Arbitrary<Step> = fc.oneof(
	add,
	add,
	fc.record({ kind: fc.constant<'removeLatest'>('removeLatest'), target: anyTarget }),
	fc.record({ kind: fc.constant<'copy'>('copy') }),
	fc.record({ kind: fc.constant<'takeAll'>('takeAll'), sinceCopy: fc.boolean() }),
);

test('each target and the total keep counting through adding, removing, copying, and taking', () => {
	fc.assert(
		fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
			const begun = new BegunRequests();
			let copy = begun.copy();
			/** Remaining requests by target. */
			const remaining = new Map(TARGETS.map((target) => [target, 0]));
			let remainingThen = new Map(remaining);
			const countOf = (target: string) => remaining.get(target) ?? 0;
			for (const one of steps) {
				if (one.kind === 'copy') {
					copy = begun.copy();
					remainingThen = new Map(remaining);
				} else if (one.kind === 'takeAll') {
					const taken = TARGETS.filter(
						(target) => !one.sinceCopy || countOf(target) === remainingThen.get(target),
					);
					const expected = taken.flatMap((target) =>
						range(countOf(target)).map((nth) => `${target} ${nth}`),
					);
					const given = begun.takeAll(one.sinceCopy ? copy : undefined);
					expect(given.map(({ target, nth }) => `${target} ${nth}`).sort()).toEqual(expected);
					for (const target of taken) remaining.set(target, 0);
				} else if (one.kind === 'add') {
					expect(begun.add(one.target)).toBe(countOf(one.target));
					remaining.set(one.target, countOf(one.target) + 1);
				} else {
					const latest = countOf(one.target) === 0 ? undefined : countOf(one.target) - 1;
					expect(begun.removeLatest(one.target)).toBe(latest);
					remaining.set(one.target, latest ?? 0);
				}
				expect(begun.total).toBe([...remaining.values()].reduce((sum, count) => sum + count, 0));
				expect(copy.total).toBe([...remainingThen.values()].reduce((sum, count) => sum + count, 0));
			}
		}),
		{ numRuns: 500 },
	);
});

describe('the executions of a process', () => {
	test('an execution that ends keeps the counts of the others at its node', () => {
		const running = new RunningExecutions();
		running.get('node', 'e1').begun.add('a');
		running.get('node', 'e2').begun.add('a');
		running.close('node', 'e2');
		expect(running.total('node')).toBe(1);
		// The execution resumes after a wait and keeps counting.
		expect(running.get('node', 'e1').begun.add('a')).toBe(1);
		expect(running.total('other node')).toBe(0);
	});

	test('an execution that started no request can be closed', () => {
		const running = new RunningExecutions();
		running.close('node', 'e1');
		running.get('node', 'e2').begun.add('a');
		running.close('node', 'e2');
		running.close('node', 'e2');
		expect(running.total('node')).toBe(0);
	});

	test('are limited in number, and the oldest is removed', () => {
		const running = new RunningExecutions();
		for (let index = 0; index < 1_500; index++) running.get('node', `e${index}`).begun.add('a');
		expect(running.total('node')).toBe(1_000);
		expect(running.get('node', 'e1499').begun.total).toBe(1);
		expect(running.get('node', 'e0').begun.total).toBe(0);
		for (let index = 0; index < 1_500; index++) running.close('node', `e${index}`);
		expect(running.total('node')).toBe(0);
	});
});
