import { inspect } from 'node:util';
import sum from 'lodash/sum';
import nock from 'nock';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { TOKEN } from '../../engine';
import { callsEndpoint, faultOf, placeCallHarness } from './placeCallHarness';

const { place } = placeCallHarness();
const NUMBERLESS = {
	success: false,
	error: 'Attach an outbound number to the agent',
	details: { error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED', action: 'attach_number' },
};

let waits: jest.SpyInstance;
beforeEach(() => {
	waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
});
afterEach(() => {
	waits.mockRestore();
});

const REJECTED_CALL =
	'No call was placed. Correct what the service names. In the settings of this node, you can choose to continue with the other items.';

/** Places one call. The interceptor responds once, so a second request would cause ENOTFOUND. */
async function faultFor(parameters: INodeParameters = {}) {
	const run = await place(parameters);
	expect(inspect(run, { depth: Infinity })).not.toContain(TOKEN);
	const fault = faultOf(run);
	// Without the words of the service.
	const message = fault.message.replace(/: ".*"$/, '');
	const [resolution = ''] = fault.description.split('The service said');
	expect(`${message} ${resolution}`).not.toMatch(/\b(error|problem|failure)\b/i);
	return fault;
}

describe('a call that the service rejects', () => {
	it.each<[name: string, status: number, body: IDataObject, what: string, resolution: string]>([
		[
			'a token that is not valid',
			401,
			{ success: false, error: 'Invalid API token', details: null },
			'The service rejected the API token',
			'enter the 16-character token',
		],
		[
			'an agent of another account',
			403,
			{ success: false, error: 'Agent not found or not associated with this account' },
			'The account of this API token has no agent with this ID',
			"Choose the agent from the list in 'Agent'",
		],
		...[200, 400, 403, 409, 422, 500].map(
			(status): [string, number, IDataObject, string, string] => [
				`an agent without an outbound number, at ${status}`,
				status,
				NUMBERLESS,
				"The agent has no outbound number, so it can't place calls",
				'Attach an outbound number to the agent',
			],
		),
		[
			'a Webhook URL on an agent without post-call analysis',
			400,
			{
				success: false,
				error: 'webhook_url is set but post_call_analysis is not enabled on this agent',
			},
			'The agent has no post-call analysis, so the service rejects the webhook URL',
			"or clear 'Webhook URL'",
		],
		[
			'an implausible phone number',
			400,
			{ success: false, error: 'phone_number is implausible for IN', details: { length: 9 } },
			`The service rejected 'Phone Number' (got "9876543210")`,
			"Correct the number, or choose its country in 'Country'. The service said: phone_number is implausible for IN · length: 9.",
		],
		[
			'an implausible phone number, in other words',
			400,
			{ success: false, errors: ['phone_number is not a plausible number for IN'] },
			`The service rejected 'Phone Number' (got "9876543210")`,
			"Correct the number, or choose its country in 'Country'.",
		],
		[
			'a bad field',
			400,
			{ success: false, error: 'initial_greeting is implausible' },
			'The service rejected the call: "initial_greeting is implausible"',
			REJECTED_CALL,
		],
		[
			'a phone number with an undocumented reason',
			400,
			{ success: false, error: "phone_number is on the agent's DND list" },
			`The service rejected the call: "phone_number is on the agent's DND list"`,
			REJECTED_CALL,
		],
		[
			'an implausible phone number beside another field',
			400,
			{ success: false, errors: ['phone_number is implausible', 'country_code is unknown'] },
			'The service rejected the call: "phone_number is implausible · country_code is unknown"',
			REJECTED_CALL,
		],
		[
			'a list of what is wrong',
			422,
			{ success: false, errors: ['country_code is unknown', 'phone_number is too short'] },
			'The service rejected the call: "country_code is unknown · phone_number is too short"',
			REJECTED_CALL,
		],
		[
			'success: false at status 200',
			200,
			{ success: false, error: 'number is on a list' },
			'The service rejected the call: "number is on a list"',
			REJECTED_CALL,
		],
		[
			'a reason that n8n would replace, because it contains a code of the operating system',
			422,
			{ success: false, error: 'ENOENT: no such flow' },
			'The service rejected the call: "ENOENT: no such flow"',
			REJECTED_CALL,
		],
		[
			'a reason too long for a message',
			422,
			{ success: false, error: `${'x'.repeat(300)} end` },
			'The service rejected the call',
			`${REJECTED_CALL} The service said: ${'x'.repeat(300)} end.`,
		],
		[
			'an address that does not exist',
			404,
			{ success: false, error: 'No route' },
			'The service returned "not found"',
			'Base URL',
		],
	])('%s', async (_name, status, body, what, resolution) => {
		callsEndpoint().reply(status, body);
		const { message, description, context } = await faultFor();
		expect(message).toBe(what);
		expect(description).toContain(resolution);
		const words = /^The service rejected the call: "(.*)"$/.exec(message)?.[1];
		if (words !== undefined) expect(description).toBe(resolution);
		expect(context).toMatchObject({ itemIndex: 0 });
	});
});

describe('a call with an unknown outcome', () => {
	const unknown = 'so the outcome is unknown (call to 9876543210, IN)';

	it.each<[name: string, reply: (post: nock.Interceptor) => void, what: string]>([
		[
			'the connection breaks',
			(post) => post.replyWithError(Object.assign(new Error('x'), { code: 'ECONNRESET' })),
			'The connection broke before a response arrived',
		],
		[
			'the socket hangs up',
			(post) => post.replyWithError(Object.assign(new Error('socket hang up'), { code: 'EPIPE' })),
			'The connection broke before a response arrived',
		],
		[
			'the response takes too long',
			(post) => post.replyWithError(Object.assign(new Error('x'), { code: 'ETIMEDOUT' })),
			'The service took too long to respond',
		],
		[
			'n8n gives up waiting',
			(post) => post.replyWithError(Object.assign(new Error('x'), { code: 'ECONNABORTED' })),
			'The service took too long to respond',
		],
		[
			'status 500',
			(post) => post.reply(500, { success: false, error: 'Internal server error' }),
			'The service returned HTTP status 500',
		],
		[
			'a gateway page at 502',
			(post) => post.reply(502, '<html>Bad Gateway</html>'),
			'The service or a proxy returned HTTP status 502',
		],
		[
			'a web page at 200',
			(post) => post.reply(200, '<html>Welcome</html>'),
			'The response is a web page',
		],
		[
			'a truncated response',
			(post) => post.reply(200, '{"success":true,"data":{"call_'),
			'The response is incomplete or unreadable',
		],
	])('%s: reported, and never sent again', async (_name, reply, what) => {
		reply(callsEndpoint());
		const { message, description } = await faultFor();
		expect(message).toBe(`${what}, ${unknown}`);
		expect(description).toMatch(
			/^The request wasn't sent again\. Before you place this call again, look for 9876543210 in the calls of your account, for example with Get Call > Get Many\./,
		);
		expect(waits).not.toHaveBeenCalled();
	});
});

describe('a call that was not placed', () => {
	const placed = { success: true, data: { call_id: 'c1' } };

	it('429 is repeated after the time that the service asks for', async () => {
		callsEndpoint().reply(429, {}, { 'Retry-After': '7' });
		callsEndpoint().reply(200, placed);
		const run = await place();
		expect(run.data.resultData.error).toBeUndefined();
		// In parts, so that Stop can end the wait.
		expect(sum(waits.mock.calls.flat())).toBe(7_000);
	});

	it('repeated 429 responses are reported', async () => {
		callsEndpoint().times(4).reply(429, { success: false, error: 'slow down' });
		expect((await faultFor()).message).toBe(
			'The service or a proxy rejected the request because it receives too many (HTTP status 429)',
		);
	});

	it.each([
		['ECONNREFUSED', 'connect'],
		['ENOTFOUND', 'getaddrinfo'],
		['EAI_AGAIN', 'getaddrinfo'],
	])('%s is tried again', async (code, syscall) => {
		callsEndpoint().replyWithError(Object.assign(new Error('x'), { code, syscall }));
		callsEndpoint().reply(200, placed);
		const run = await place();
		expect(run.data.resultData.error).toBeUndefined();
		expect(waits).toHaveBeenCalledTimes(1);
	});

	it('an unavailable host is reported', async () => {
		const gone = Object.assign(new Error('x'), { code: 'ECONNREFUSED', syscall: 'connect' });
		callsEndpoint().times(4).replyWithError(gone);
		const { message } = await faultFor();
		expect(message).toBe("The service can't be reached, so the request wasn't sent");
	});

	it('a redirect is not followed with the token', async () => {
		callsEndpoint().reply(307, '', { Location: 'https://elsewhere.example.com/v1/call' });
		const elsewhere = nock('https://elsewhere.example.com').post('/v1/call').reply(200, placed);
		const { message } = await faultFor();
		expect(message).toContain("a redirect, which isn't followed");
		expect(elsewhere.isDone()).toBe(false);
		nock.cleanAll();
	});
});

describe('before anything is sent', () => {
	it.each<[name: string, parameters: INodeParameters, what: string]>([
		[
			'the code of another country in the number',
			{ phoneNumber: '+449876543210' },
			"starts with +44, the code of United Kingdom and 3 other countries, but 'Country' is India (+91)",
		],
		['a greeting too long', { initialGreeting: 'x'.repeat(2001) }, '2001 characters'],
		['a short call', { callConfigOverrides: { maxCallDurationSeconds: 29 } }, 'Maximum Duration'],
		['a long call', { callConfigOverrides: { maxCallDurationSeconds: 1801 } }, 'Maximum Duration'],
		['no attempt', { callConfigOverrides: { retryMaxAttempts: 0 } }, 'Retry Attempts'],
		['eleven attempts', { callConfigOverrides: { retryMaxAttempts: 11 } }, 'Retry Attempts'],
		['no interval', { callConfigOverrides: { retryIntervalMinutes: 0 } }, 'Retry Interval'],
		['more than a day', { callConfigOverrides: { retryIntervalMinutes: 1441 } }, 'Retry Interval'],
		['a webhook without host', { options: { webhookUrl: 'https://' } }, 'Webhook URL'],
		[
			'a list as Additional Data',
			{ developerSettings: { additionalDataJson: '[1]' } },
			"'Additional Data as JSON' must be a JSON object, but is a list",
		],
		[
			'a field without a name',
			{ additionalDataFields: { fields: [{ name: '', value: 'x' }] } },
			"Field 1 of 'Additional Data' has no name",
		],
		[
			'a data point without a description',
			{ dataExtraction: { points: [{ description: '={{ " " }}', key: 'day' }] } },
			`Data Point 1 ("day") of 'Data Extraction' has no description`,
		],
		[
			'a number as agent ID',
			{ agentUuid: { __rl: true, mode: 'id', value: '={{ 7 }}' } },
			`'Agent' must be an agent ID (got "7")`,
		],
		[
			'the name of a country',
			{ countryCode: '={{ "India" }}' },
			`'Country' must be a country code (got "India")`,
		],
		[
			"additional body fields that aren't an object",
			{ developerSettings: { additionalBodyFields: '={{ "x" }}' } },
			"'Additional Body Fields' must be a JSON object",
		],
	])('%s is reported', async (_name, parameters, what) => {
		const { message } = await faultFor(parameters);
		expect(message).toContain(what);
	});

	it('several fields are reported at the same time', async () => {
		const { message, description } = await faultFor({
			phoneNumber: '={{ "n/a" }}',
			countryCode: '={{ "India" }}',
		});
		expect(message).toBe("2 fields need attention, so the call wasn't placed");
		expect(description).toContain(`(1) 'Country' must be a country code (got "India")`);
		expect(description).toContain('Use IN for India.');
		expect(description).toContain(`(2) 'Phone Number' "n/a" isn't a phone number.`);
	});
});
