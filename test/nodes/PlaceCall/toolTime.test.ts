import nock from 'nock';
import { TOOL_LIMITS } from '../../../nodes/shared/n8n/tools/toolDeadline';
import { anExecution, engineTool } from '../../engine';
import { CALL, callsEndpoint, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();

afterEach(() => jest.restoreAllMocks());

const toolOf = () =>
	engineTool(harness.credentials, harness.placeCallNode(CALL), { data: anExecution() });

test('a call that the service does not answer in a tool’s time is unknown, and not placed again', async () => {
	jest.replaceProperty(TOOL_LIMITS, 'wholeMs', 200);
	callsEndpoint().delay(3_000).reply(200, {});
	const tool = toolOf();
	expect(await tool()).toMatchObject({
		outcome: 'unknown',
		what_happened: expect.stringContaining('took too long to respond'),
	});
	expect(await tool()).toMatchObject({ outcome: 'unknown' });
	// The answer that nock still holds back would hold a worker of jest for as long.
	nock.abortPendingRequests();
});

test('a service that asks to wait longer than a tool may is not asked again', async () => {
	jest.replaceProperty(TOOL_LIMITS, 'wholeMs', 4_000);
	callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '5' });
	expect(await toolOf()()).toMatchObject({ outcome: 'rejected' });
});
