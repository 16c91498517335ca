import { TOOL_LIMITS } from '../../../nodes/shared/n8n/tools/toolRun';
import { newExecutionData, engineTool, holdTimeouts, skipSleeps } from '../../engine';
import { CALL, callsEndpoint, NIGHT, NOON, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();

afterEach(() => jest.restoreAllMocks());

const toolOf = (options = {}, parameters = {}) =>
	engineTool(harness.placeCallNode({ ...CALL, ...parameters, options }), {
		data: newExecutionData(),
	});

test('a call without a response within the time limit of tools is unknown, and not placed again', async () => {
	const pass = holdTimeouts();
	callsEndpoint().reply(async () => {
		pass(TOOL_LIMITS.wholeMs);
		return await new Promise<[number]>(() => {});
	});
	const tool = toolOf();
	expect(await tool()).toMatchObject({
		outcome: 'unknown',
		what_happened: expect.stringContaining('No response arrived'),
	});
	expect(await tool()).toMatchObject({ outcome: 'unknown' });
});

test('a request is not repeated if the service asks to wait longer than a tool may', async () => {
	jest.replaceProperty(TOOL_LIMITS, 'wholeMs', 4_000);
	holdTimeouts();
	callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '5' });
	expect(await toolOf()()).toMatchObject({ outcome: 'rejected' });
});

test('a call is not placed if the list of called numbers takes longer', async () => {
	const pass = holdTimeouts();
	harness.store.beforeCall = (made) => {
		if (made === 'add 1') pass(TOOL_LIMITS.wholeMs);
	};
	const tool = toolOf({}, { callLimit: 'day' });
	expect(await tool()).toMatchObject({
		outcome: 'not_sent',
		what_happened: 'Timed out after 50 seconds, and nothing was sent.',
		next_step: expect.stringMatching(/^Nothing was done\. Wait for a minute/),
	});
});

test('a model that repeats a request after the time of its call has passed gets the stored result', async () => {
	const moveTo = skipSleeps(Date.parse(NOON));
	callsEndpoint().reply(200, { success: true, data: { call_id: 'call-1' } });
	const tool = toolOf({}, { when: '2026-11-20T13:00:00+05:30' });
	expect(await tool()).toMatchObject({ outcome: 'done' });
	moveTo(NIGHT);
	expect(await tool()).toMatchObject({
		outcome: 'already_done',
		result: { call_id: 'call-1' },
	});
});
