import nock from 'nock';
import { TOOL_LIMITS } from '../../../nodes/shared/n8n/tools/toolDeadline';
import { newExecutionData, engineTool } from '../../engine';
import { CALL, callsEndpoint, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();

afterEach(() => jest.restoreAllMocks());

const toolOf = () =>
	engineTool(harness.credentials, harness.placeCallNode(CALL), { data: newExecutionData() });

test('a call without a response within the time limit of tools is unknown, and not placed again', async () => {
	jest.replaceProperty(TOOL_LIMITS, 'wholeMs', 200);
	callsEndpoint().delay(3_000).reply(200, {});
	const tool = toolOf();
	expect(await tool()).toMatchObject({
		outcome: 'unknown',
		what_happened: expect.stringContaining('took too long to respond'),
	});
	expect(await tool()).toMatchObject({ outcome: 'unknown' });
	// Abort the delayed response of nock, which would keep a Jest worker busy.
	nock.abortPendingRequests();
});

test('a request is not repeated if the service asks to wait longer than a tool may', async () => {
	jest.replaceProperty(TOOL_LIMITS, 'wholeMs', 4_000);
	callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '5' });
	expect(await toolOf()()).toMatchObject({ outcome: 'rejected' });
});
