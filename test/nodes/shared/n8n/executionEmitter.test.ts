import { TriggerContext } from 'n8n-core';
import type { IRun, ITriggerFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { emitSurely, ExecutionEmitter } from '../../../../nodes/shared/n8n/executionEmitter';
import {
	makeAdditionalData,
	makeNode,
	makeWorkflow,
	PACKAGE,
	setupEngine,
	TestCredentialsHelper,
	webhookContext,
} from '../../../engine';

beforeAll(setupEngine);

const credentials = new TestCredentialsHelper();
const node = makeNode({ type: `${PACKAGE}.callCompletedTrigger`, name: 'Trigger' });
const items = [{ json: { call_id: 'c1' } }];

/** A trigger whose n8n cannot store an execution for the first so many times. */
function offering(refusals: number) {
	const offers: Array<{ key: string | undefined; at: number }> = [];
	const emit: ITriggerFunctions['emit'] = (_items, _response, done, key) => {
		offers.push({ key, at: Date.now() });
		if (offers.length > refusals) done?.resolve(z.custom<IRun>().parse({}));
		else done?.reject(new Error('the database is locked'));
	};
	const never = (): never => {
		throw new Error('no failed execution is expected');
	};
	const data = makeAdditionalData(credentials, 'trigger');
	const trigger = new TriggerContext(
		makeWorkflow([node]),
		node,
		data,
		'trigger',
		'activate',
		emit,
		never,
		never,
	);
	return { trigger, offers };
}

describe('what is offered to n8n', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	test.each([
		[0, [0]],
		[1, [0, 1_000]],
		[2, [0, 1_000, 6_000]],
		[3, [0, 1_000, 6_000, 36_000]],
		[9, [0, 1_000, 6_000, 36_000, 96_000]],
	])('it cannot take it %i times: offered at %j ms, with the same key', async (refusals, times) => {
		const { trigger, offers } = offering(refusals);
		const started = Date.now();
		const offered = emitSurely(trigger, items, 'key-1');
		await jest.advanceTimersByTimeAsync(600_000);
		await offered;
		expect(offers).toEqual(times.map((at) => ({ key: 'key-1', at: started + at })));
	});
});

test('in a process without triggers the newest 1,000 keys are kept with the workflow', () => {
	const workflow = makeWorkflow([node]);
	const { context } = webhookContext(credentials, workflow, node, {});
	const emitter = new ExecutionEmitter(context, undefined, false);
	const kept = () => z.array(z.string()).parse(workflow.getStaticData('node', node).usedKeys);
	emitter.emit(items, 'call-0');
	const [oldest] = kept();
	for (let call = 1; call < 1_000; call += 1) emitter.emit(items, `call-${call}`);
	expect(kept()).toHaveLength(1_000);
	expect(kept()[0]).toBe(oldest);
	emitter.emit(items, 'call-1000');
	expect(kept()).toHaveLength(1_000);
	expect(kept()).not.toContain(oldest);
});

test('what was started without the trigger is known again where the trigger is', () => {
	const { context } = webhookContext(credentials, makeWorkflow([node]), node, {});
	new ExecutionEmitter(context, undefined, false).emit(items, 'call-0');
	// Of another workflow: this process has long forgotten what it started itself.
	const other = makeWorkflow([node]);
	other.id = 'another-workflow';
	const { context: elsewhere } = webhookContext(credentials, other, node, {});
	const busy = new ExecutionEmitter(elsewhere, undefined, false);
	for (let call = 0; call < 20_000; call += 1) busy.emit(items, `other-${call}`);
	const emitter = new ExecutionEmitter(context, offering(0).trigger, false);
	expect([emitter.isUsed('call-0'), emitter.isUsed('call-1')]).toEqual([true, false]);
});
