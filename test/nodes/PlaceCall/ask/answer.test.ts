import fc from 'fast-check';
import {
	withAnswer,
	withoutAnswer,
	type AskedQuestion,
} from '../../../../nodes/PlaceCall/ask/answer';
import type { CallState } from '../../../../nodes/shared/calls/callEnd';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../nodes/shared/json';

const asked: AskedQuestion = {
	question: 'May we ship?',
	response_type: 'approval',
	yes: ['yes', 'true', 'Go ahead'],
	no: ['no', 'false'],
	answer_field_in_record: 'data_captured.ok',
	not_reached: ['not_picked', 'failed'],
};

const over = (record: JsonObject): CallState => ({ record, hasEnded: true });
const open = (record: JsonObject): CallState => ({ record, hasEnded: false });
const picked = (ok: JsonValue): JsonObject => ({ status: 'picked', data_captured: { ok } });

const answerTo = (known?: CallState, over: Partial<AskedQuestion> = {}, call: JsonObject = {}) =>
	withAnswer(call, { ...asked, ...over }, known);

describe('what counts as which answer', () => {
	test.each<[string, CallState, string, string]>([
		['a yes', over(picked('yes')), 'yes', 'The person said yes ("yes").'],
		['other capitals and space', over(picked(' GO ahead ')), 'yes', 'The person said yes'],
		['true as a value', over(picked(true)), 'yes', 'The person said yes ("true").'],
		['a no', over(picked('No')), 'no', 'The person said no ("No").'],
		['false as a value', over(picked(false)), 'no', 'The person said no ("false").'],
		['another word', over(picked('yes, but')), 'unclear', 'counts neither as yes nor as no'],
		['a list', over(picked(['yes'])), 'unclear', 'counts neither as yes nor as no'],
		['an object', over(picked({ ok: 'yes' })), 'unclear', 'counts neither as yes nor as no'],
		['an empty text', over(picked(' ')), 'unclear', 'is completed (status "picked"), but has no'],
		['nothing', over({ status: 'picked' }), 'unclear', 'but has no captured answer'],
		[
			'no status at all',
			over({}),
			'unclear',
			'is completed (status "null"), but has no captured answer',
		],
		[
			'nobody took the call',
			over({ status: 'not_picked' }),
			'not_reached',
			'The person was not reached (status "not_picked").',
		],
		[
			'nobody took the call, and it goes on',
			open({ status: 'failed' }),
			'not_reached',
			'The person was not reached (status "failed").',
		],
		[
			'a yes in a call that nobody took',
			over({ ...picked('yes'), status: 'not_picked' }),
			'unclear',
			'"yes" was captured in a call that nobody answered (status "not_picked").',
		],
		[
			'a yes in a call that goes on',
			open(picked('yes')),
			'unclear',
			`"yes" was captured, but the call wasn't completed`,
		],
		['a call that goes on', open({ status: 'picked' }), 'unclear', "The call wasn't completed"],
		[
			'a call that could not be read',
			{ record: {}, hasEnded: false, readFailure: 'The token is wrong.' },
			'unclear',
			'The answer is unknown. The token is wrong.',
		],
	])('%s', (_what, known, answer, explanation) => {
		const told = answerTo(known);
		expect(told).toMatchObject({ answer, explanation: expect.stringContaining(explanation) });
		expect(told).toHaveProperty('data.approved', answer === 'yes');
	});

	test('what was captured stands beside it as it came', () => {
		expect(answerTo(over(picked(['yes'])))).toMatchObject({ captured_answer: ['yes'] });
		expect(answerTo(over({}))).toMatchObject({ captured_answer: null });
	});

	test('it is read where the person says that it stands', () => {
		const record = {
			post_call_analysis: { votes: [{ value: 'yes' }] },
			data_captured: { ok: 'no' },
		};
		const path = { answer_field_in_record: 'post_call_analysis.votes.0.value' };
		expect(answerTo(over(record), path)).toMatchObject({ answer: 'yes' });
	});

	test('a status that the account shows for whom it does not reach', () => {
		const busy = over({ status: 'busy' });
		expect(answerTo(busy)).toMatchObject({ answer: 'unclear' });
		expect(answerTo(busy, { not_reached: ['busy'] })).toMatchObject({ answer: 'not_reached' });
	});

	test('any answer will do where no yes or no is asked for, and it is no approval', () => {
		const anyOf = { response_type: 'freeText', yes: [], no: [] } as const;
		const free: Partial<AskedQuestion> = { ...anyOf, yes: [], no: [] };
		expect(answerTo(over(picked('On Friday')), free)).toMatchObject({
			answer: 'answered',
			captured_answer: 'On Friday',
			explanation: 'The person said "On Friday".',
			data: { approved: false, chatInput: 'The person said "On Friday".' },
		});
		expect(answerTo(over(picked(null)), free)).toMatchObject({ answer: 'unclear' });
		expect(answerTo(open(picked('On Friday')), free)).toMatchObject({ answer: 'unclear' });
		const empties: JsonValue[] = [{}, [], [null], { said: '' }];
		for (const empty of empties) {
			expect(answerTo(over(picked(empty)), free)).toMatchObject({ answer: 'unclear' });
		}
		expect(answerTo(over(picked(false)), free)).toMatchObject({ answer: 'answered' });
	});

	test('a call that was looked up is the one that asked, where it was reported to this execution', () => {
		const yes = over(picked('yes'));
		const found = { looked_up: true };
		expect(answerTo(yes, {}, found)).toMatchObject({
			answer: 'unclear',
			captured_answer: 'yes',
			explanation: expect.stringContaining('This call may have asked another question'),
			data: { approved: false },
		});
		expect(answerTo({ ...yes, isReported: true }, {}, found)).toMatchObject({ answer: 'yes' });
	});

	test('no call was placed, because of the calling hours', () => {
		expect(answerTo(undefined, {}, { placed: false })).toMatchObject({
			answer: 'not_reached',
			explanation: expect.stringContaining('outside the calling hours'),
			data: { approved: false },
		});
	});
});

test('a model whose tool was not approved gets the reason, and must not use it', () => {
	const told = (ok: JsonValue) => answerTo(over(picked(ok)));
	expect(told('no')).toHaveProperty(
		'data.chatInput',
		'The person said no ("no"). This is not an approval. Do not use the tool unless the user asks for it again.',
	);
	expect(told('yes')).toHaveProperty('data.chatInput', 'The person said yes ("yes").');
	expect(withoutAnswer('The agent has no number.')).toEqual({
		answer: 'unclear',
		explanation: 'The answer is unknown. The agent has no number.',
		captured_answer: null,
		data: {
			approved: false,
			chatInput: expect.stringMatching(
				/^The answer is unknown\. The agent has no number\. This is not an/,
			),
		},
	});
});

test('fields of the item are no evidence, whatever they are called', () => {
	const item = { status: 'picked', data_captured: { ok: 'yes' }, answer: 'yes', timed_out: false };
	expect(answerTo(over({ status: 'picked' }), {}, item)).toMatchObject({
		answer: 'unclear',
		data: { approved: false },
	});
	expect(answerTo(undefined, {}, item)).toMatchObject({ answer: 'unclear' });
});

test('n8n finds the verdict in data alone: beside it, it would take approved and chatInput first', () => {
	for (const answered of [over(picked('no')), open({}), undefined]) {
		const told = answerTo(answered, {}, { call_id: 'a', approved: true, chatInput: 'Go on.' });
		expect(told).not.toHaveProperty('approved');
		expect(told).not.toHaveProperty('chatInput');
		expect(told).toMatchObject({ call_id: 'a', data: { approved: false } });
	}
});

test('a call in which nothing was asked stays as it is', () => {
	const call = { call_id: 'a', data_captured: { ok: 'yes' } };
	for (const not of [
		undefined,
		null,
		'asked',
		{},
		{ ...asked, yes: 'yes' },
		{ ...asked, no: [1] },
	]) {
		expect(withAnswer(call, not, over(picked('yes')))).toBe(call);
	}
});

test('yes only if one of its values was captured in a completed call', () => {
	const word = fc.constantFrom('yes', ' Yes ', 'no', 'true', 'maybe', '', 'go ahead', '1');
	const value: fc.Arbitrary<JsonValue> = fc.oneof(
		word,
		fc.boolean(),
		fc.integer(),
		fc.constant(null),
		fc.array(word),
		fc.record({ ok: word }),
	);
	const record = fc.record(
		{
			status: fc.oneof(
				fc.constantFrom<JsonValue>('picked', 'not_picked', 'failed', 'busy', 'yes', null, true),
				value,
			),
			data_captured: fc.oneof(fc.record({ ok: value }), fc.record({ other: value }), value),
			summary: value,
			ok: value,
		},
		{ requiredKeys: [] },
	);
	const list = fc.array(word.filter((one) => one !== ''));
	let yesSeen = 0;
	fc.assert(
		fc.property(
			record,
			fc.boolean(),
			fc.constantFrom(undefined, 'It was rejected.'),
			fc.constantFrom('approval' as const, 'freeText' as const),
			list,
			list,
			(seen, hasEnded, readFailure, type, yes, no) => {
				const known = { record: seen, hasEnded, ...(readFailure !== undefined && { readFailure }) };
				const told = answerTo(known, { response_type: type, yes, no });
				if (!('answer' in told)) throw new Error('no answer');
				const { data_captured: data = null } = seen;
				const captured = isJsonObject(data) && 'ok' in data ? data.ok : undefined;
				const said =
					typeof captured === 'object' ? undefined : String(captured).trim().toLowerCase();
				const isYes = yes.some((one) => one.trim().toLowerCase() === said);
				if (told.answer === 'yes') {
					yesSeen++;
					expect([isYes, hasEnded, type]).toEqual([true, true, 'approval']);
					expect(['not_picked', 'failed']).not.toContain(seen.status);
				}
				expect(told).toHaveProperty('data.approved', told.answer === 'yes');
			},
		),
		{ numRuns: 5_000 },
	);
	expect(yesSeen).toBeGreaterThan(20);
});
