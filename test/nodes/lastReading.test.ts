import fc from 'fast-check';
import { waitedItems } from '../../nodes/PlaceCall/wait/waitedItems';
import { NotSent, OutcomeUnknown } from '../../nodes/shared/api/errors';
import { forEveryone } from '../../nodes/shared/api/resolution';
import { CallWatch } from '../../nodes/shared/calls/callWatch';

const ASKED = {
	question: 'May we come?',
	response_type: 'approval',
	yes: ['yes'],
	no: ['no'],
	answer_field_in_record: 'data_captured.answer',
	not_reached: ['not_picked'],
};

type Step = 'read' | 'unreachable' | 'down';
const FAULTS = {
	unreachable: new NotSent('The service cannot be reached', forEveryone('Check its address.')),
	down: new OutcomeUnknown('The service responded with 503', forEveryone('Try again later.')),
};

/** A reader that follows a script and repeats its last step. Time passes only in `clock.sleep`. */
function scripted<Reading>(script: readonly Step[], reading: () => Reading) {
	let time = 0;
	const done: Step[] = [];
	const clock = {
		now: () => time,
		elapsed: () => time,
		sleep: async (ms: number) => {
			time += ms;
			await Promise.resolve();
		},
	};
	const read = async () => {
		const step = script[Math.min(done.length, script.length - 1)] ?? 'read';
		done.push(step);
		await Promise.resolve();
		if (step !== 'read') throw FAULTS[step];
		return reading();
	};
	return { clock, read, lastStep: () => done.at(-1) };
}

const RECORD = { call_id: 'c', status: 'not_picked' };
const watch = (read: () => Promise<typeof RECORD>) =>
	new CallWatch(['c'], { read, finished: [], reader: 'onScreen' });
const itemOf = (calls: CallWatch) =>
	waitedItems([{ json: { call_id: 'c', asked: ASKED } }], calls, false)[0]?.json ?? {};

/** Runs a wait until its time limit. Returns its output, and the result of its last reading. */
const WAITS: {
	[name: string]: (script: readonly Step[]) => Promise<{ json: object; last: Step | undefined }>;
} = {
	'Place Call and Ask and Wait, by reading': async (script) => {
		const { clock, read, lastStep } = scripted(script, () => RECORD);
		const calls = watch(read);
		await calls.readUntilAllEnded(clock, 300_000);
		return { json: itemOf(calls), last: lastStep() };
	},
	'Place Call and Ask and Wait, by webhook': async (script) => {
		const { clock, read, lastStep } = scripted(script, () => RECORD);
		const calls = watch(read);
		for (let look = 0; look < 10; look++) {
			await calls.haveAllEnded();
			await clock.sleep(30_000);
		}
		return { json: itemOf(calls), last: lastStep() };
	},
};

const scripts = fc.array(fc.constantFrom<Step>('read', 'unreachable', 'down'), {
	minLength: 1,
	maxLength: 12,
});

test.each(Object.entries(WAITS))(
	'%s: the output has not_read if and only if the last reading failed',
	async (_name, wait) => {
		const property = fc.asyncProperty(scripts, async (script) => {
			const { json, last } = await wait(script);
			const fault = last === 'unreachable' || last === 'down' ? FAULTS[last] : undefined;
			expect(json).toEqual(
				fault === undefined
					? expect.not.objectContaining({ not_read: expect.anything() })
					: expect.objectContaining({
							not_read: expect.stringContaining(`${fault.message}. ${fault.resolution}`),
						}),
			);
			// Only a successful last reading shows whether the person was reached.
			if ('answer' in json) expect(json.answer).toBe(last === 'read' ? 'not_reached' : 'unclear');
		});
		await fc.assert(property);
	},
);
