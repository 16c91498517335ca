import { CredentialTestContext } from 'n8n-core';
import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';
import { VoiceChatAgentApiTokenApi } from '../../credentials/VoiceChatAgentApiTokenApi.credentials';
import { voiceChatAgentApiTest } from '../../nodes/host/http/credentialTest';
import { apiMappingOf } from '../contract/credentialFor';
import { providerSettingsOf } from '../contract/providerBlock';
import { dialects } from '../simulator';
import { readProviderSettings, PROVIDER_SETTINGS } from '../../nodes/core/profile/providerSettings';
import { AGENTS_TOPIC } from '../../nodes/core/profile/agents';
import type { JsonObject } from '../../nodes/core/values/json';
import {
	engineHarness,
	HOST,
	loader,
	makeAdditionalData,
	service,
	TOKEN,
	useNoWaits,
} from '../engine';

engineHarness();
const waits = useNoWaits();

/** The button "Test" of the credential form, through n8n-core's own context. */
async function pressTest(data: ICredentialDataDecryptedObject): Promise<INodeCredentialTestResult> {
	const context = new CredentialTestContext(makeAdditionalData('internal'));
	const credential = { id: '1', name: 'c', type: 'voiceChatAgentApiTokenApi' };
	return await voiceChatAgentApiTest.call(context, {
		...credential,
		data: { baseUrl: HOST, apiToken: TOKEN, ...data },
	});
}

describe('the test button', () => {
	test('accepts a valid token, sent only in a header', async () => {
		service().get('/v1/active_agents').reply(200, { success: true, data: [] });
		expect(await pressTest({})).toEqual({
			status: 'OK',
			message: 'The service accepts the API token',
		});
	});

	test.each([
		[
			'no base URL',
			{ baseUrl: '' },
			/'Base URL' in the credential isn't the URL of a service.*such as "https/,
		],
		['a short token', { apiToken: 'short' }, /must have 16 characters \(got 5\).*Copy the whole/],
	])('%s: nothing is sent', async (_name, data, message) => {
		expect(await pressTest(data)).toEqual({
			status: 'Error',
			message: expect.stringMatching(message),
		});
	});

	const REJECTED = { success: false, error: 'Invalid API token' };
	const NO_PATH = { success: false, error: 'Not found', details: null };
	test.each<[string, number, object | string, RegExp]>([
		['401', 401, REJECTED, /rejected the API token.*enter the 16-character token/],
		['a 401 of a proxy', 401, '<html>', /Check 'API Token' and 'Base URL'.*a proxy may require/],
		['a redirect', 302, '', /redirect, which isn't followed.*the final URL/],
		['an HTML page', 200, '<html>Welcome</html>', /doesn't contain.*Set 'Base URL'.*<html>Welcome/],
		['an HTML 404', 404, '<html>Not here</html>', /404.*Set 'Base URL'.*without a version/],
		[
			"a 404 in the service's form",
			404,
			NO_PATH,
			/returned "not found".*Set 'Base URL'.*Not found/,
		],
		['another interface', 200, { hello: 'world' }, /doesn't contain the requested data.*Set 'Base/],
		['a blocked account', 403, { success: false, error: 'Account suspended' }, /Account suspended/],
		['a sign-in', 200, { success: false, error: 'Please log in' }, /Please log in/],
		['too many requests', 429, NO_PATH, /because it receives too many.*The request had no effect/],
		['a service in trouble', 503, '<html>', /returned HTTP status 503.*test again later/],
	])('%s', async (_name, status, body, message) => {
		service()
			.get('/v1/active_agents')
			.times(status === 429 || status >= 500 ? 4 : 1)
			.reply(status, body, status === 302 ? { location: 'https://elsewhere.example.com' } : {});
		const result = await pressTest({});
		expect(result).toEqual({ status: 'Error', message: expect.stringMatching(message) });
		expect(result.message).not.toMatch(/run (this|the)|item|Open the credential/);
		expect(JSON.stringify(result)).not.toContain(TOKEN);
	});

	test.each<[code: string, requests: number, RegExp]>([
		['DEPTH_ZERO_SELF_SIGNED_CERT', 1, /can't be reached/],
		['ENOTFOUND', 4, /can't be reached.*'Base URL'/],
	])('reports %s after %i requests', async (code, requests, message) => {
		const syscall = code === 'ENOTFOUND' ? 'getaddrinfo' : undefined;
		const error = Object.assign(new Error('no'), { code, syscall });
		service().get('/v1/active_agents').times(requests).replyWithError(error);
		expect(await pressTest({})).toEqual({
			status: 'Error',
			message: expect.stringMatching(message),
		});
		expect(waits()).toHaveBeenCalledTimes(requests - 1);
	});
});

describe('the test of the API mapping', () => {
	const agents = [{ agent_uuid: 'agent_a1', agent_name: 'Sales' }];
	const withAgents = (data: unknown = agents) =>
		service().get('/v1/active_agents').reply(200, { success: true, data });
	const CALLS = { callListPath: 'data.calls', callListPaging: 'whole', callListPageSizeName: 'n' };
	const DND = { dndListAgentName: 'agent', dndListPerPageName: 'size' };
	const CHAT = { chatCreateAgentName: 'agent', chatCreateAgentPlacement: 'query' };

	test('reports what was read and what was not tested', async () => {
		withAgents();
		service()
			.get('/v1/calls')
			.query({ n: 1 })
			.reply(200, { success: true, data: { calls: [] } });
		service()
			.get('/v1/dnd_numbers')
			.query({ agent: 'agent_a1', size: 1 })
			.reply(200, { success: true, data: [], meta: {} });
		const result = await pressTest({ ...CALLS, ...DND, ...CHAT, agentsPath: 'data' });
		expect(result).toEqual({
			status: 'OK',
			message:
				'The service accepts the API token. Tested with the API mapping: the list of agents, the call list, a do-not-disturb list. Not tested: chat requests (a test sends no messages), query parameters of chat requests (a test sends no messages)',
		});
	});

	const found = (calls: unknown, meta: object = {}) => ({
		calls: { success: true, data: { calls }, meta },
	});
	const CALL = { call_id: 'c' };
	const CURSOR = { callListPaging: 'cursor', callListPageName: 'after' };

	test.each<[string, ICredentialDataDecryptedObject, object, RegExp]>([
		[
			'the list of agents',
			{ agentsPath: 'data.staff' },
			{},
			/Reading the list of agents failed: .*no recognizable list of active agents\. In the credential, turn on 'My Provider Sent Settings', then turn on 'Set Up the List of Agents' and check 'Path to Agents in Response'/,
		],
		[
			'a wrong path to the call list',
			CALLS,
			{ calls: { success: true, data: { found: [] } } },
			/Reading the call list failed: The response has no list of calls at "data\.calls"\..*check 'Path to List in Response'/,
		],
		[
			'a missing value of the call list',
			{ callListPath: 'data' },
			{},
			/Reading the call list failed: The credential lacks settings for the call list\. Send .* fill in 'Pagination' and 'Page, Offset, or Cursor Parameter Name'\./,
		],
		[
			'a rejected read of the call list',
			CALLS,
			{ calls: { success: false, errors: ['n is not known'] } },
			/Reading the call list failed: .*n is not known.*check 'Page Size Parameter Name'/,
		],
		[
			'a wrong path to the total',
			{ ...CALLS, callListTotalPath: 'meta.total' },
			found([CALL], { count: 1 }),
			/The response doesn't fit the setting "meta\.total"\. .*check 'Path to Total Count in Response'/,
		],
		[
			'the cursor of a list that has more pages',
			{ ...CALLS, ...CURSOR, callListCursorPath: 'meta.next', callListTotalPath: 'meta.total' },
			found([CALL], { total: 2, cursor: 'x' }),
			/The response doesn't fit the setting "meta\.next"\. .*check 'Path to Next Cursor or Link in Response'/,
		],
		[
			'an unknown parameter of the do-not-disturb list',
			DND,
			{ numbers: { success: false, error: 'agent_not_found' } },
			/Reading a do-not-disturb list failed: .*agent_not_found.*check 'Get List: Agent Parameter Name' and 'Get List: Page Size Parameter Name'/,
		],
		[
			'a response without a do-not-disturb list',
			DND,
			{ numbers: { success: true, data: {} } },
			/Reading a do-not-disturb list failed: The response has no list/,
		],
		[
			'both topics',
			{ ...CALLS, ...DND },
			{ ...found({}), numbers: { success: true, data: {} } },
			/Reading the call list failed:.*Reading a do-not-disturb list failed:/,
		],
	])(
		'%s',
		async (_what, data, { calls, numbers }: { calls?: object; numbers?: object }, expected) => {
			withAgents();
			if (calls) service().get('/v1/calls').query(true).reply(200, calls);
			if (numbers) service().get('/v1/dnd_numbers').query(true).reply(200, numbers);
			const { status, message } = await pressTest(data);
			expect({ status, message }).toEqual({
				status: 'Error',
				message: expect.stringMatching(expected),
			});
			expect(message).toMatch(/^The service accepts the API token, but parts of the API mapping/);
			expect(message).not.toContain(TOKEN);
		},
	);

	test.each([
		[{}, / Not tested: further pages of the call list \(the first response has nothing at "next"/],
		[{ next: null }, /call list$/],
		[{ next: 'abc' }, /call list$/],
	])('a list whose response has %j for the path to the cursor', async (more, expected) => {
		withAgents();
		const body = { success: true, data: { calls: [{ call_id: 'c' }] }, ...more };
		service().get('/v1/calls').query({ n: 1 }).reply(200, body);
		const cursor = { ...CURSOR, callListCursorPath: 'next' };
		expect(await pressTest({ ...CALLS, ...cursor })).toEqual({
			status: 'OK',
			message: expect.stringMatching(expected),
		});
	});

	const NO_AGENT = 'a do-not-disturb list (no active agent was found)';
	const EMPTY_TOPIC = { describeDnd: true, describeChat: false, dndListAgentName: ' ' };

	test.each<[string, JsonObject, ICredentialDataDecryptedObject, string]>([
		['no agent is active', { success: true, data: [] }, DND, NO_AGENT],
		['the agents are not recognized', { success: true, data: { on: {} } }, DND, NO_AGENT],
		[
			'a topic is turned on without a value',
			{ success: true, data: agents },
			EMPTY_TOPIC,
			'a do-not-disturb list (its fields are empty)',
		],
		[
			'the service returns no agents',
			{ success: false, errors: ['scope is missing'] },
			{ agentsPath: 'data' },
			"the list of agents (the service didn't return it)",
		],
	])('what is not tested if %s', async (_why, body, data, untested) => {
		const status = body.success === true ? 200 : 422;
		service().get('/v1/active_agents').reply(status, body);
		expect(await pressTest(data)).toEqual({
			status: 'OK',
			message: `The service accepts the API token. Not tested: ${untested}`,
		});
	});

	test('the block of the provider is tested like the fields, and its invalid values are listed', async () => {
		const fields = { ...apiMappingOf(dialects.plain), callListPath: 'data.calls' };
		withAgents();
		service()
			.get('/v1/calls')
			.query(true)
			.reply(200, { success: true, data: { calls: [] }, meta: { total_count: 0 } });
		service().get('/v1/dnd_numbers').query(true).reply(200, { success: true, data: [] });
		const providerSettings = JSON.stringify(providerSettingsOf(fields));
		const { status, message } = await pressTest({ providerSettings });
		expect([status, message]).toEqual([
			'OK',
			expect.stringMatching(/Tested with the API mapping: .*list/),
		]);

		withAgents();
		expect(await pressTest({ providerSettings: '{ "call_list": {} }' })).toEqual({
			status: 'Error',
			message: expect.stringMatching(
				/has invalid values\. Correct them.*unknown names: "call_list"/,
			),
		});
	});
});

describe('the token', () => {
	const credential = new VoiceChatAgentApiTokenApi();

	const authenticate = async (request: object, baseUrl: string = HOST) =>
		await credential.authenticate({ baseUrl, apiToken: TOKEN }, { url: '', ...request });

	test.each<[object, string?]>([
		[{ url: `${HOST}/v1/call` }],
		[{ url: HOST }],
		[{ url: 'HTTPS://Voice.Example.com/v1/calls?a=b' }],
		// The older options, which the HTTP Request node uses.
		[{ url: undefined, uri: `${HOST}/v1` }],
		[{ url: `${HOST}/v1`, baseURL: 'https://else.where' }],
		[{ url: `${HOST}/api/v1/call` }, `${HOST}/api/`],
		[{ url: HOST, proxy: '', rejectUnauthorized: true, agentOptions: {} }],
	])('is sent below the base URL: %j', async (options, baseUrl = HOST) => {
		const request = await authenticate({ headers: { 'X-Own': '1' }, ...options }, baseUrl);
		expect(request.headers).toEqual({ 'X-Own': '1', 'API-Token': TOKEN });
	});

	test('is not sent with a redirect by any HTTP helper of n8n', async () => {
		const request = await authenticate({ url: HOST, followRedirect: true, maxRedirects: 21 });
		expect(request).toMatchObject({
			...{ disableFollowRedirect: true, followRedirect: false },
			...{ followAllRedirects: false, maxRedirects: 0 },
		});
	});

	test.each<[object, string?]>([
		[{ url: 'https://elsewhere.example.com/v1/call' }],
		// Names that begin with the host.
		[{ url: 'https://voice.example.com.evil.example/v1/call' }],
		[{ url: 'https://voice.example.community/v1/call' }],
		[{ url: undefined, uri: 'https://elsewhere.example.com' }],
		[{ url: `${HOST}:8443/v1/call` }],
		[{ url: HOST.replace('https', 'http') }],
		// With a sign-in name.
		[{ url: 'https://voice.example.com@evil.example/v1' }],
		[{ url: 'https://me@voice.example.com/v1' }],
		[{ url: 'https://evil.example\\voice.example.com/v1' }],
		[{ url: '/v1/call', baseURL: HOST }],
		[{ url: '//evil.example/v1', baseURL: HOST }],
		[{ url: 'https://evil.example', baseURL: HOST }],
		// Beside the path of the base URL.
		[{ url: `${HOST}/apis/v1` }, `${HOST}/api`],
		[{ url: `${HOST}/api/../v1` }, `${HOST}/api`],
		[{ url: `${HOST}/api/%2e%2e/v1` }, `${HOST}/api`],
		[{ url: undefined }],
		[{ url: 'voice' }],
	])('is not sent to another URL: %j', async (options, baseUrl = HOST) => {
		await expect(authenticate(options, baseUrl)).rejects.toMatchObject({
			message: "The request wasn't sent, because its URL isn't below 'Base URL' in the credential",
			description: expect.stringMatching(/begin with https:/),
		});
	});

	test.each<object>([
		{ proxy: 'http://proxy.example.com:8080' },
		{ proxy: { protocol: 'http', host: 'proxy.example.com', port: 8080 } },
		{ skipSslCertificateValidation: true },
		{ rejectUnauthorized: false },
		{ agentOptions: { rejectUnauthorized: false } },
	])(
		'is not sent through a proxy of the request, or without a check of certificates: %j',
		async (options) => {
			await expect(authenticate({ url: HOST, ...options })).rejects.toMatchObject({
				message: "The request wasn't sent, because others could read the API token on its way",
				description: expect.stringContaining("'Proxy' and 'Ignore SSL Issues'"),
			});
		},
	);

	test('an invalid credential has a message', async () => {
		await expect(authenticate({ url: HOST }, 'voice')).rejects.toMatchObject({
			message: "'Base URL' in the credential isn't the URL of a service",
			description: expect.stringContaining('such as "https://'),
		});
	});
});

test('n8n hides the token', () => {
	const { properties } = loader.getCredential('voiceChatAgentApiTokenApi').type;
	expect(properties.find(({ name }) => name === 'apiToken')?.typeOptions?.password).toBe(true);
});

test('the example in Settings From Your Provider is a block that is accepted as it stands', () => {
	const { properties } = new VoiceChatAgentApiTokenApi();
	const { placeholder = '' } = properties.find(({ name }) => name === PROVIDER_SETTINGS) ?? {};
	expect([...readProviderSettings(placeholder).keys()]).toEqual([AGENTS_TOPIC]);
});
