import { Verifications } from '../../../nodes/CallCompletedTrigger/verifications';
import { clock } from '../../../nodes/shared/n8n/connect';
import { engineHarness, makeWorkflow, triggerContext, webhookContext } from '../../engine';

const harness = engineHarness();
const CALL = { included: { transcript: false, recording: false }, finished: [] };

/** Verifications that do not come to an end, because the credential does not come, and what was told of them. */
function begun(calls: number) {
	const node = harness.node('callCompletedTrigger');
	const context = triggerContext(harness.credentials, makeWorkflow([node]), node);
	const told: unknown[] = [];
	jest.spyOn(context, 'saveFailedExecution').mockImplementation((error) => told.push(error));
	const verifications = new Verifications(context);
	const begin = (call: number) => {
		const { reading, isFirst } = verifications.verify(`call-${call}`, CALL);
		// Of the closing, which breaks them off.
		reading.catch(() => {});
		return isFirst;
	};
	for (let call = 1; call <= calls; call++) begin(call);
	return { verifications, begin, close: async () => await verifications.close(), told };
}

beforeEach(() => {
	jest.spyOn(harness.credentials, 'getDecrypted').mockReturnValue(new Promise(() => {}));
	jest.spyOn(clock, 'sleep').mockResolvedValue();
	let time = 0;
	jest.spyOn(clock, 'now').mockImplementation(() => (time += 1_000));
});
afterEach(() => jest.restoreAllMocks());

test('5,000 calls are as many as are verified at once', () => {
	const { verifications, begin } = begun(4_999);
	expect([begin(1), verifications.isFull]).toEqual([false, false]);
	expect([begin(5_000), verifications.isFull]).toEqual([true, true]);
});

test.each([
	[1, 'A completed call was', 'call-1.'],
	[2, '2 completed calls were', 'call-1, call-2.'],
	[50, '50 completed calls were', ', call-49, call-50.'],
	[53, '53 completed calls were', ', call-49, call-50 and 3 more.'],
])('%i that the closing leaves behind: the owner is told once', async (calls, which, named) => {
	const { close, told } = begun(calls);
	await close();
	expect(told).toMatchObject([
		{
			message: `${which} still being verified when the trigger was stopped, so the workflow was not started`,
			description: expect.stringMatching(/^Read them with Get Call: call-1[.,]/),
		},
	]);
	expect(told).toMatchObject([{ description: expect.stringContaining(named) }]);
});

test('where nothing is left behind there is nothing to tell', async () => {
	const { close, told } = begun(0);
	await close();
	expect(told).toEqual([]);
});

test('in a process that only takes webhooks, n8n logs what the closing leaves behind', async () => {
	const node = harness.node('callCompletedTrigger');
	const { context } = webhookContext(harness.credentials, makeWorkflow([node]), node, {});
	const error = jest.spyOn(context.logger, 'error').mockReturnValue();
	const verifications = new Verifications(context);
	verifications.verify('call-1', CALL).reading.catch(() => {});
	await verifications.close();
	expect(error).toHaveBeenCalledWith(
		'A completed call was still being verified when the trigger was stopped, so the workflow was not started',
	);
});
