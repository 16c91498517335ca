import dns from 'node:dns';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeCertificate } from './certificates';
import { placeCallHarness } from './placeCallHarness';

const { place } = placeCallHarness();
const NAME = 'service.test';
const [RIGHT, WRONG, NOBODY] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const authority = makeCertificate('Test authority', { isAuthority: true });
const trusted = getCACertificates('default');

let right: Server;
let wrong: Server;
let baseUrl: string;
/** Requests by address. */
let requests: string[];
/** What the next lookups of the name return. The last one stays. */
let answers: string[];

const listening = async (host: string, name: string, port: number): Promise<Server> => {
	const server = createServer(
		makeCertificate(name, { issuer: authority, hosts: [name] }),
		(request, response) => {
			requests.push(host);
			request.resume();
			response.setHeader('content-type', 'application/json');
			response.end('{"success":true,"data":{"call_id":"c"}}');
		},
	);
	await new Promise<void>((resolve) => server.listen(port, host, resolve));
	return server;
};

const isAddress = (address: unknown): address is AddressInfo => typeof address === 'object';

beforeAll(async () => {
	setDefaultCACertificates([...trusted, authority.cert]);
	right = await listening(RIGHT, NAME, 0);
	const address = right.address();
	const port = isAddress(address) ? address.port : 0;
	wrong = await listening(WRONG, 'stranger.test', port);
	baseUrl = `https://${NAME}:${port}`;
});
afterAll(async () => {
	setDefaultCACertificates(trusted);
	for (const server of [right, wrong]) {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	}
});
beforeEach(() => {
	requests = [];
	const real = dns.lookup;
	const lookup = (name: string, ...rest: unknown[]) => {
		const callback = rest.at(-1);
		if (name !== NAME || !isCallback(callback)) {
			Reflect.apply(real, dns, [name, ...rest]);
			return;
		}
		const [answer = RIGHT] = answers.length > 1 ? answers.splice(0, 1) : answers;
		const error =
			answer === dns.NOTFOUND
				? Object.assign(new Error(answer), { code: answer, syscall: 'getaddrinfo' })
				: null;
		process.nextTick(() => callback(error, [{ address: answer, family: 4 }]));
	};
	jest.spyOn(dns, 'lookup').mockImplementation(lookup);
});
afterEach(() => jest.restoreAllMocks());

type Callback = (error: Error | null, addresses: dns.LookupAddress[]) => void;
const isCallback = (value: unknown): value is Callback => typeof value === 'function';

const FAILURES = [
	['that the name does not exist', dns.NOTFOUND],
	['with an address where nobody listens', NOBODY],
];

describe('while DNS returns a wrong address', () => {
	test('with the address of another server, nothing is sent to it, and the next execution places the call', async () => {
		answers = [WRONG];
		expect(await place(baseUrl)).toMatchObject({ outcome: 'not_sent' });
		expect(requests).toEqual([]);
		answers = [RIGHT];
		expect(await place(baseUrl)).toEqual({ outcome: 'placed', message: 'c' });
		expect(requests).toEqual([RIGHT]);
	});

	test.each(FAILURES)(
		'%s, the node tries again, and the call is placed once',
		async (_what, answer) => {
			answers = [answer, answer, RIGHT];
			expect(await place(baseUrl)).toEqual({ outcome: 'placed', message: 'c' });
			expect(requests).toEqual([RIGHT]);
		},
	);

	test.each(FAILURES)('%s until the last attempt, nothing is sent', async (_what, answer) => {
		answers = [answer];
		expect(await place(baseUrl)).toMatchObject({ outcome: 'not_sent' });
		expect(requests).toEqual([]);
	});
});
