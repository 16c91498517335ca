import { isPushCheckpoint } from '../../../../nodes/PushCampaignContacts/push/checkpoint';

const SENT = {
	campaign: 1,
	rows: [0, 1],
	numbers: 'a',
	column: 'phone',
	options: 'b',
};
const INTERRUPTED = { campaign: 1, rows: [0, 1], numbers: 'a' };
const UNSENT = { campaign: 1, fingerprint: 'a', blockSize: 10, positions: [0, 1] };
const REJECTED = { settings: 'a', row: 0, number: 'b', reason: 'c' };

test('accepts stored checkpoints', () => {
	const sent = [
		SENT,
		{ ...SENT, response: {} },
		{ ...SENT, path: ['a', 'b'] },
		{ ...SENT, unknown: { message: 'a', resolution: 'b' } },
	];
	const all = { sent, rejected: [REJECTED], unsent: UNSENT, interrupted: INTERRUPTED };
	for (const indexBase of [undefined, 0, 1]) {
		expect(isPushCheckpoint({ ...all, indexBase })).toBe(true);
	}
});

test.each<[string, unknown]>([
	['campaign', '1'],
	['rows', 1],
	['rows', ['0']],
	['numbers', ['a']],
	['column', undefined],
	['path', 'a.b'],
	['path', [1]],
	['options', undefined],
	['response', 'ok'],
	['unknown', 'broke'],
])('rejects a request whose %s is %p', (field, value) => {
	expect(isPushCheckpoint({ sent: [{ ...SENT, [field]: value }], rejected: [] })).toBe(false);
});

test.each<[string, unknown]>([
	['campaign', '1'],
	['rows', ['0']],
	['numbers', undefined],
])('rejects interrupted rows whose %s is %p', (field, value) => {
	const interrupted = { ...INTERRUPTED, [field]: value };
	expect(isPushCheckpoint({ sent: [], rejected: [], interrupted })).toBe(false);
});

test.each<[string, unknown]>([
	['campaign', '1'],
	['fingerprint', 1],
	['blockSize', undefined],
	['positions', ['0']],
])('rejects unsent rows whose %s is %p', (field, value) => {
	expect(isPushCheckpoint({ sent: [], rejected: [], unsent: { ...UNSENT, [field]: value } })).toBe(
		false,
	);
});

test.each<[string, unknown]>([
	['settings', 1],
	['row', '0'],
	['number', 9],
	['reason', undefined],
])('rejects a rejected row whose %s is %p', (field, value) => {
	expect(isPushCheckpoint({ sent: [], rejected: [{ ...REJECTED, [field]: value }] })).toBe(false);
});

test.each<[string, unknown]>([
	['nothing', undefined],
	['no object for a request', { sent: ['x'], rejected: [] }],
	['no object for a rejected row', { sent: [], rejected: [null] }],
	['no list of rejected rows', { sent: [], rejected: {} }],
	['a list', []],
	['another shape', { sent: {}, rejected: [] }],
	['a request without its rows', { sent: [{ campaign: 1 }], rejected: [] }],
	['a rejected row without its index', { sent: [], rejected: [{ reason: 'x' }] }],
	['a list of unsent rows', { sent: [], rejected: [], unsent: [1] }],
	['a list of interrupted rows', { sent: [], rejected: [], interrupted: [1] }],
	['an invalid index base', { sent: [], rejected: [], indexBase: 2 }],
])('rejects %s', (_name, value) => {
	expect(isPushCheckpoint(value)).toBe(false);
});
