import { gzipSync } from 'node:zlib';
import { RESPONSE_LIMITS } from '../../nodes/host/http/transport';
import { output } from '../engine/engine';
import { localServer } from './localServer';

const BLOCK = Buffer.alloc(100_000, ' ');
/** More than the limits plus the buffers of two sockets. */
const BLOCKS = 400;
/** More than the limit. */
const TOO_MANY = 21;

let status = 200;
let start = '';
let blocks = 0;
let packed: Buffer | undefined;
let written = 0;
let requests = 0;

const server = localServer((request, response) => {
	requests++;
	request.resume();
	if (packed !== undefined) {
		response.writeHead(status, { 'content-encoding': 'gzip' }).end(packed);
		return;
	}
	response.writeHead(status, { 'content-type': 'application/json' });
	response.write(start.replace('CALL', `call-${requests}`));
	let remaining = blocks;
	const more = (): void => {
		while (remaining-- > 0) {
			written += BLOCK.length;
			if (!response.write(BLOCK)) {
				response.once('drain', more);
				return;
			}
		}
		response.end();
	};
	more();
});

let limits: { restore: () => void };

beforeEach(() => {
	[start, blocks, packed, written, requests] = ['', 0, undefined, 0, 0];
	limits = jest.replaceProperty(RESPONSE_LIMITS, 'successBytes', 2_000_000);
});
afterEach(() => limits.restore());

const place = async (items?: number) =>
	await server.run(
		'placeCall',
		{
			whatToDo: 'place',
			agentUuid: { __rl: true, mode: 'id', value: 'agent_a1' },
			countryCode: 'IN',
			phoneNumber: '={{ 9876543210 + $itemIndex }}',
		},
		items,
	);
const read = async () => await server.run('getCall', { operation: 'get', callId: 'call-1' });
const PLACED = '{"success":true,"data":{"call_id":"CALL"}}';
const UNREAD = 'The response is larger than 2 MB';
const EXPLAINED = /so the outcome is unknown|^The service/;

test.each([
	[200, `${UNREAD}, so the outcome is unknown`],
	[400, EXPLAINED],
	[403, EXPLAINED],
	[500, EXPLAINED],
])('reads only the beginning of a long response with %i', async (code, message) => {
	limits.restore();
	limits = jest.replaceProperty(
		RESPONSE_LIMITS,
		code === 200 ? 'successBytes' : 'otherBytes',
		2_000_000,
	);
	[status, start, blocks] = [code, '{"success":true,"data":{"a":"', BLOCKS];
	const { error } = (await place()).data.resultData;
	expect(error?.message).toMatch(message);
	expect(requests).toBe(1);
	expect(written).toBeLessThan((BLOCKS * BLOCK.length) / 2);
});

test('the limit applies to the unpacked size of a compressed response', async () => {
	status = 200;
	packed = gzipSync(
		Buffer.concat([
			Buffer.from('{"success":true,"data":{"a":"'),
			...Array<Buffer>(TOO_MANY).fill(BLOCK),
		]),
	);
	const { error } = (await read()).data.resultData;
	expect(error?.message).toBe(UNREAD);
});

test('a response below the limit is read completely', async () => {
	[status, start, blocks] = [200, PLACED, 19];
	const result = await place(5);
	expect(output(result, 'Node')).toHaveLength(5);
	expect(requests).toBe(5);
});
