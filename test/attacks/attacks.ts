import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';

/** Webhook URLs that an outsider may know, without their secrets. */
export type WebhookUrls = {
	/** Chat Events Trigger with its secret in a header. */
	watch: string;
	completed: string;
	/** Chat Delivery Trigger with its secret in the query. */
	delivery: string;
	/** A waiting execution of Place Call, without its token. */
	resume: string;
};

export type Attack = {
	kind: string;
	to: keyof WebhookUrls;
	/** Appended to the URL without encoding. */
	suffix?: string;
	method?: string;
	headers?: { [name: string]: string | string[] };
	body?: () => string | Buffer;
	/** The expected statuses of the response. */
	statuses: number[];
};

const json = (value: unknown) => () => JSON.stringify(value);
const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
const watching = (session_ids: unknown) => () => JSON.stringify({ action: 'watch', session_ids });
const nested = (levels: number) => '{"data":'.repeat(levels) + '1' + '}'.repeat(levels);

const FORM = [
	'--x',
	'content-disposition: form-data; name="call_id"; filename="a.bin"',
	'',
	'x'.repeat(1_000_000),
	'--x--',
	'',
].join('\r\n');

/** 50 MB of spaces and then JSON, compressed to about 50 KB. */
const BOMB = gzipSync(' '.repeat(50_000_000) + '{}');

/** n8n reads the body before the node: JSON that it can't read gets 422, and more than 16 MB get 500. */
const UNREADABLE = [422];
const TOO_LARGE = [500];

/** For Call Completed Trigger, n8n starts an execution, which doesn't find the call and ends at the trigger. */
const ACCEPTED = [200];

/** Bodies with name, content type, and the statuses, unless the node rejects them. */
const BODIES: Array<[string, string | undefined, () => string | Buffer, number[]?]> = [
	['no body', undefined, () => ''],
	['text', 'text/plain', () => 'hello'],
	['half of a JSON text', 'application/json', () => '{"call_id":', UNREADABLE],
	['bytes', 'application/octet-stream', () => Buffer.from([0xff, 0xfe, 0x00, 0x80])],
	['XML', 'application/xml', () => `<a>${randomUUID()}</a>`],
	['a form', 'application/x-www-form-urlencoded', () => `id=${randomUUID()}&action=watch`],
	['a form with a file', 'multipart/form-data; boundary=x', () => FORM],
	['100,000 levels of objects', 'application/json', () => nested(100_000)],
	['a list of lists', 'application/json', () => '['.repeat(50_000) + ']'.repeat(50_000)],
	['__proto__', 'application/json', () => `{"__proto__":{"action":"watch"},"constructor":1}`],
	['an empty object', 'application/json', () => '{}'],
	['null', 'application/json', () => 'null'],
	['a JSON text in a JSON text', 'application/json', json(JSON.stringify({ call_id: 'x' }))],
	['17 MB', 'application/json', () => `{"x":"${'x'.repeat(17_000_000)}"}`, TOO_LARGE],
];

const everywhere = (['watch', 'completed'] as const).flatMap(
	(to) =>
		[
			...BODIES.map(
				([kind, type, body, statuses = to === 'watch' ? [403] : [400]]): Attack => ({
					kind: `${to}: ${kind}`,
					to,
					body,
					...(type !== undefined && { headers: { 'content-type': type } }),
					statuses,
				}),
			),
			{
				kind: `${to}: 50 MB after decompression`,
				to,
				headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
				body: () => BOMB,
				statuses: TOO_LARGE,
			},
			{
				kind: `${to}: a wrong content encoding`,
				to,
				headers: { 'content-encoding': 'gzip' },
				body: () => '{}',
				statuses: [500],
			},
			...['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'].map(
				(method): Attack => ({ kind: `${to}: ${method}`, to, method, statuses: [404] }),
			),
			{ kind: `${to}: a longer path`, to, suffix: '/more', statuses: [404] },
			{
				kind: `${to}: a path with ../`,
				to,
				suffix: '/..%2f..%2frest%2fworkflows',
				statuses: [404],
			},
			{ kind: `${to}: a broken path`, to, suffix: '%', statuses: [400, 404] },
			{
				kind: `${to}: 17 KB of headers`,
				to,
				// n8n accepts 16 KB. It closes the connection without reading the rest, and this client can lose the response if the rest is long: with 42 KB, in 75 of 18,000 requests.
				headers: Object.fromEntries(ids(125).map((id) => [`x-${id}`, 'x'.repeat(100)])),
				statuses: [431],
			},
		] satisfies Attack[],
);

export const ATTACKS: Attack[] = [
	...everywhere,
	...[20_000, 1_000, 101, 20, 1].map(
		(count): Attack => ({
			kind: `watch: ${count} made-up sessions`,
			to: 'watch',
			body: () => watching(ids(count))(),
			statuses: [403],
		}),
	),
	{
		kind: 'watch: a session 1,000 times',
		to: 'watch',
		body: () => watching(Array(1_000).fill(randomUUID()))(),
		statuses: [403],
	},
	{
		kind: 'watch: a session ID with ../',
		to: 'watch',
		body: watching(['../../v1/calls']),
		statuses: [403],
	},
	{
		kind: 'watch: a line break in a session',
		to: 'watch',
		body: watching([`${randomUUID()}\r\nAPI-Token: x`]),
		statuses: [403],
	},
	{
		kind: 'watch: 60,000 letters in a session',
		to: 'watch',
		body: watching(['x'.repeat(60_000)]),
		statuses: [403],
	},
	{
		kind: 'watch: objects instead of session IDs',
		to: 'watch',
		body: watching([{ id: 1 }, [1], null]),
		statuses: [403],
	},
	{
		kind: 'watch: a list of actions',
		to: 'watch',
		body: json({ action: ['watch'], session_id: randomUUID() }),
		statuses: [403],
	},

	{ kind: 'secret: none', to: 'watch', body: watching(ids(1)), statuses: [403] },
	{
		kind: 'secret: empty',
		to: 'watch',
		headers: { 'x-watch-secret': '' },
		body: watching(ids(1)),
		statuses: [403],
	},
	...['undefined', 'null', 'NaN', '[object Object]', '0', 'true', '1234', '123456'].map(
		(secret): Attack => ({
			kind: `secret: ${secret}`,
			to: 'watch',
			headers: { 'x-watch-secret': secret },
			body: watching(ids(1)),
			statuses: [403],
		}),
	),
	{
		kind: 'secret: two headers',
		to: 'watch',
		headers: { 'x-watch-secret': ['12345', '12345'] },
		body: watching(ids(1)),
		statuses: [403],
	},
	{
		kind: 'secret: 8 KB',
		to: 'watch',
		headers: { 'x-watch-secret': 'x'.repeat(8_000) },
		body: watching(ids(1)),
		statuses: [403],
	},
	{
		kind: 'secret: in the query',
		to: 'watch',
		suffix: '?secret=12345&x-watch-secret=12345',
		body: watching(ids(1)),
		statuses: [403],
	},
	{
		kind: 'secret: in the body',
		to: 'watch',
		body: json({ action: 'watch', secret: '12345', session_ids: ids(1) }),
		statuses: [403],
	},
	{
		kind: 'secret: 16 MB without it',
		to: 'watch',
		body: () => 'x'.repeat(16_000_000),
		statuses: UNREADABLE,
	},

	{
		kind: 'completed: a made-up call',
		to: 'completed',
		body: () => json({ call_id: randomUUID(), status: 'picked' })(),
		statuses: ACCEPTED,
	},
	{
		kind: 'completed: a made-up call in XML',
		to: 'completed',
		headers: { 'content-type': 'application/xml' },
		body: () => `<call_id>${randomUUID()}</call_id>`,
		statuses: ACCEPTED,
	},
	{
		kind: 'completed: a made-up call in a form',
		to: 'completed',
		headers: { 'content-type': 'application/x-www-form-urlencoded' },
		body: () => `call_id=${randomUUID()}`,
		statuses: ACCEPTED,
	},
	{
		kind: 'completed: a made-up call in upper case',
		to: 'completed',
		body: () => json({ call_id: randomUUID().toUpperCase() })(),
		statuses: ACCEPTED,
	},
	{
		kind: 'completed: a made-up call in an envelope',
		to: 'completed',
		body: () => json({ success: true, status: 'ok', data: { call_id: randomUUID() } })(),
		statuses: ACCEPTED,
	},
	{
		kind: 'completed: three made-up calls',
		to: 'completed',
		body: () => json(ids(3).map((call_id) => ({ call_id })))(),
		statuses: ACCEPTED,
	},
	{
		kind: 'completed: 101 made-up calls',
		to: 'completed',
		body: () => json(ids(101).map((call_id) => ({ call_id })))(),
		statuses: [400],
	},
	{
		kind: 'completed: 100,000 made-up calls',
		to: 'completed',
		body: () => json(ids(100_000).map((call_id) => ({ call_id })))(),
		statuses: [400],
	},
	{
		kind: 'completed: a call 1,000 times',
		to: 'completed',
		body: () => json(Array(1_000).fill({ call_id: randomUUID() }))(),
		statuses: [400],
	},
	{
		kind: 'completed: a made-up call and 15 MB',
		to: 'completed',
		body: () => json({ call_id: randomUUID(), x: 'x'.repeat(15_000_000) })(),
		statuses: ACCEPTED,
	},
	{
		kind: 'completed: a made-up call and 200,000 values',
		to: 'completed',
		body: () => json([{ call_id: randomUUID() }, ...Array<number>(200_000).fill(0)])(),
		statuses: [413],
	},
	...['../../v1/calls', 'a?b=c', 'a/b', '%2e%2e%2f', 'a\u0000b', 'a b', 'x'.repeat(129), ''].map(
		(call_id): Attack => ({
			kind: `completed: the ID ${JSON.stringify(call_id).slice(0, 20)}`,
			to: 'completed',
			body: json({ call_id }),
			statuses: [400],
		}),
	),
	{
		kind: 'completed: an object instead of the ID',
		to: 'completed',
		body: json({ call_id: { $ne: null } }),
		statuses: [400],
	},
	{
		kind: 'completed: a JSON text with the ID',
		to: 'completed',
		body: json({ data: JSON.stringify({ call_id: randomUUID() }) }),
		statuses: [400],
	},
	{
		kind: 'completed: the ID in captured data',
		to: 'completed',
		body: json({ data_captured: { call_id: randomUUID() } }),
		statuses: [400],
	},

	{
		kind: 'delivery: no secret in the query',
		to: 'delivery',
		body: json({ n: 1 }),
		statuses: [403],
	},
	...[
		'?secret=',
		'?secret=wrong',
		'?secret=a&secret=open-sesame',
		'?secret[]=open-sesame',
		'?secret[a]=open-sesame',
		'?SECRET=open-sesame',
		'?secret=open-sesam%65x',
		'?secret=open-sesame%00',
	].map(
		(suffix): Attack => ({
			kind: `delivery: ${suffix}`,
			to: 'delivery',
			suffix,
			body: json({ n: 1 }),
			statuses: [403],
		}),
	),

	{ kind: 'resume: no token', to: 'resume', body: json({}), statuses: [401] },
	{
		kind: 'resume: a wrong token',
		to: 'resume',
		suffix: `?signature=${'a'.repeat(64)}`,
		body: json({}),
		statuses: [401],
	},
	{
		kind: 'resume: an empty token',
		to: 'resume',
		suffix: '?signature=',
		body: json({}),
		statuses: [401],
	},
	{
		kind: 'resume: a made-up call',
		to: 'resume',
		body: json({ call_id: randomUUID() }),
		statuses: [401],
	},
	{ kind: 'resume: GET', to: 'resume', method: 'GET', statuses: [401] },
	{ kind: 'resume: another node', to: 'resume', suffix: 'x', body: json({}), statuses: [401] },
];

/** The response of n8n. Status 0 means that it closed the connection. */
export type Outcome = { status: number; body: string; retryAfter: string | undefined };

/**
 * Sends the path unchanged, which `fetch` would normalize, on its own connection. With `Connection: close`, Node.js would
 * close it right after a response, also before it has read the whole body, and this client could lose the response.
 */
export async function attack(
	urls: WebhookUrls,
	{ to, suffix = '', method = 'POST', headers = {}, body }: Attack,
): Promise<Outcome> {
	const { hostname, port, pathname } = new URL(urls[to]);
	const bytes = Buffer.from(body?.() ?? '');
	const connection = { connection: 'keep-alive' };
	const type = 'content-type' in headers ? {} : { 'content-type': 'application/json' };
	const length = bytes.length === 0 ? {} : { 'content-length': bytes.length };
	const options = { hostname, port, method, path: pathname + suffix, agent: false };
	return await new Promise((resolve) => {
		const sending = request(
			{ ...options, headers: { ...connection, ...type, ...length, ...headers } },
			(response) => {
				const parts: Buffer[] = [];
				response.on('data', (part: Buffer) => parts.push(part));
				const done = () =>
					resolve({
						status: response.statusCode ?? 0,
						body: Buffer.concat(parts).toString(),
						retryAfter: response.headers['retry-after'],
					});
				response.once('end', done);
				response.once('error', done);
			},
		);
		sending.once('error', () => resolve({ status: 0, body: '', retryAfter: undefined }));
		sending.end(bytes);
	});
}
