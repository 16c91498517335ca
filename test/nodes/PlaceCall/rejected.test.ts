import type { IDataObject } from 'n8n-workflow';
import { nodeHarness } from '../nodeHarness';
import { CALL, callsEndpoint, people, perItem } from './placeCallHarness';

const { errorOf, waits } = nodeHarness('placeCall', CALL);

const REJECTED_CALL =
	'No call was placed. Correct what the service names. Do not call a person who is on a do-not-disturb list.';

// The interceptor of the service responds once, so a second request would cause ENOTFOUND.
describe('a call that the service rejects', () => {
	const said = (error: string, more: IDataObject = {}) => ({ success: false, error, ...more });

	test.each<[status: number, body: IDataObject, reason: string]>([
		[
			400,
			said('phone_number is implausible for IN', { details: { length: 9 } }),
			'phone_number is implausible for IN · length: 9',
		],
		// n8n would replace a reason that contains a code of the operating system.
		[200, said('ENOENT: no such flow'), 'ENOENT: no such flow'],
	])('%i %j', async (status, body, reason) => {
		callsEndpoint().reply(status, body);
		const { message, description, context } = await errorOf();
		expect(message).toBe('The service rejected the call');
		expect(description).toBe(`${REJECTED_CALL} The service said: ${reason}.`);
		expect(context).toMatchObject({ itemIndex: 0 });
	});
});

describe('a call with an unknown outcome', () => {
	// Other responses and faults: test/nodes/shared/api/errorTexts.
	test('the message says how to find out, and nothing is sent again', async () => {
		callsEndpoint().reply(502, '<html>Bad Gateway</html>');
		const { message, description } = await errorOf();
		expect(message).toBe(
			'The service or a proxy returned HTTP status 502, so the outcome is unknown (call to 9876543210, IN)',
		);
		expect(description).toMatch(
			/^The request wasn't sent again\. Before you place this call again, look for 9876543210 in the calls of your account, for example with Get Call > Get Many\./,
		);
		expect(waits()).not.toHaveBeenCalled();
	});

	test('a response with the ID of another call, such as from a cache, proves nothing', async () => {
		callsEndpoint()
			.times(2)
			.reply(200, { success: true, data: { call_id: 'call-1' } });
		const { message } = await errorOf(perItem, { items: people(2) });
		expect(message).toContain('The response has the ID of another call of this execution');
	});
});
