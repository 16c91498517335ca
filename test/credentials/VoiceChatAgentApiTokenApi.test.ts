import { CredentialTestContext } from 'n8n-core';
import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';
import { VoiceChatAgentApiTokenApi } from '../../credentials/VoiceChatAgentApiTokenApi.credentials';
import { voiceChatAgentApiTest } from '../../nodes/host/http/credentialTest';
import { readProfile } from '../../nodes/core/profile/schema';
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
		[
			'a short token',
			{ apiToken: 'short' },
			/must have 16 characters \(got 5\).*In n8n, copy the whole/,
		],
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
		['its text with a 422', 422, REJECTED, /The service rejected the request.*Invalid API token/],
		['a 401 of a proxy', 401, '<html>', /'API Token' of the credential.*a proxy may require/],
		['a redirect', 302, '', /HTTP status 302.*In n8n, set 'Base URL'/],
		[
			'an HTML page',
			200,
			'<html>Welcome</html>',
			/doesn't contain.*In n8n, set 'Base URL'.*\(HTTP status 200 · Welcome\)/,
		],
		[
			"a 404 in the service's form",
			404,
			NO_PATH,
			/didn't find this.*In n8n, set 'Base URL'.*without a version.*Not found/,
		],
		['a blocked account', 403, { success: false, error: 'Account suspended' }, /Account suspended/],
		['too many requests', 429, NO_PATH, /because it receives too many.*The request had no effect/],
	])('%s', async (_name, status, body, message) => {
		service()
			.get('/v1/active_agents')
			.times(status === 429 ? 4 : 1)
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

describe('the test of an invalid profile', () => {
	beforeEach(() => service().get('/v1/active_agents').reply(200, { success: true, data: [] }));

	test('tells its first fault', async () => {
		const serviceProfile = JSON.stringify({ call_list: {}, 'dnd.add': [] });
		expect(await pressTest({ serviceProfile })).toEqual({
			status: 'Error',
			message:
				"'Service Profile' in the credential isn't complete and correct. In n8n, correct it, or send this to your service provider: \"dnd.add\": Expected object, received array.",
		});
	});

	test('with the API token in it, hides the token in the message', async () => {
		const { message } = await pressTest({ serviceProfile: JSON.stringify({ [TOKEN]: {} }) });
		expect(message).toContain("Unrecognized key(s) in object: '[hidden]'");
		expect(message).not.toContain(TOKEN);
	});
});

describe('the token', () => {
	const credential = new VoiceChatAgentApiTokenApi();

	const authenticate = async (request: object, baseUrl: string = HOST) =>
		await credential.authenticate({ baseUrl, apiToken: TOKEN }, { url: '', ...request });

	test.each<[object, string?]>([
		[{ url: `${HOST}/v1/call` }],
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
		[{ url: undefined, uri: 'https://elsewhere.example.com' }],
		[{ url: '/v1/call', baseURL: HOST }],
		[{ url: 'https://evil.example', baseURL: HOST }],
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

test('the example in Service Profile is accepted as it stands', () => {
	const { properties } = new VoiceChatAgentApiTokenApi();
	expect(properties.map(({ displayName }) => displayName.slice(0, 20))).toEqual([
		'Base URL',
		'API Token',
		'More Settings',
		'Send the <a href="ht',
		'Service Profile',
		'Opt-Out Key',
		'Finished Statuses',
	]);
	const { placeholder = '' } = properties.find(({ name }) => name === 'serviceProfile') ?? {};
	expect(Object.keys(readProfile(placeholder))).toEqual(['agents', 'dnd.add']);
});
