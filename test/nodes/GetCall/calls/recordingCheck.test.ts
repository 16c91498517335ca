import fc from 'fast-check';
import { notARecordingReason, isComplete } from '../../../../nodes/GetCall/calls/recordingCheck';

const faultOf = (headers = {}, status = 200) => notARecordingReason(status, headers)?.message;

test.each([
	...['audio/wav', 'audio/mpeg', 'application/octet-stream', 'binary/octet-stream'],
	...['text/plain', '', 'nonsense'],
])('a file of the type %j can be a recording', (type) => {
	expect(faultOf({ 'content-type': type, 'content-length': '8' })).toBeUndefined();
});

test.each([
	['text/html', 'a web page'],
	['Text/HTML; charset=UTF-8', 'a web page'],
	['application/xhtml+xml', 'a web page'],
	['application/json', 'JSON'],
	['application/problem+json', 'JSON'],
	['application/xml', 'XML'],
	['image/png', 'an image'],
])('a file of the type %s is %s, not a recording', (type, kind) => {
	expect(faultOf({ 'content-type': type })).toContain(`returned ${kind} instead of a recording`);
});

test('an empty file is not a recording', () => {
	expect(faultOf({ 'content-type': 'audio/wav', 'content-length': '0' })).toContain(
		'an empty file',
	);
});

test.each([201, 202, 203, 204, 205, 206, 226])('%i is not a complete file', (status) => {
	expect(faultOf({}, status)).toContain(`HTTP status ${status}`);
});

test('a file is complete only if it has the length in the header', () => {
	fc.assert(
		fc.property(fc.nat(), fc.nat(), (length, bytes) => {
			const expected = length === bytes ? true : null;
			expect(isComplete({ 'content-length': String(length) }, bytes)).toBe(expected);
		}),
	);
	expect(isComplete({}, 5)).toBeNull();
	expect(isComplete({ 'content-length': '5' }, undefined)).toBeNull();
	expect(isComplete({ 'content-length': '0x5' }, 5)).toBeNull();
	expect(isComplete({ 'content-length': '' }, 0)).toBeNull();
});
