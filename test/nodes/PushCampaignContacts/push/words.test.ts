import fc from 'fast-check';
import {
	countRows,
	describeOutcome,
	hintsFor,
} from '../../../../nodes/PushCampaignContacts/push/report';
import { TransportFault } from '../../../../nodes/shared/api/http';
import {
	accept,
	json,
	phone,
	push,
	reject,
	reset,
	scripted,
	stored,
	type Script,
} from './scripted';

/** What a service may do with a request. */
const SCRIPTS: Record<string, Script> = {
	accepted: accept,
	'too many': () => ({ status: 429, headers: {}, text: '' }),
	'too many, wait': () => ({ status: 429, headers: { 'retry-after': '3600' }, text: '' }),
	'too large': () => json(413, { success: false, error: 'too large' }),
	'no connection': () => new TransportFault('ECONNREFUSED', '', 'connect'),
	'no trust': () => new TransportFault('CERT_HAS_EXPIRED', ''),
	blocked: () => new TransportFault('BLOCKED_BY_N8N', 'not allowed'),
	reset: () => reset,
	'wrong token': () => json(401, { success: false, error: 'no' }),
	redirect: () => json(307, {}),
	proxy: () => json(407, {}),
	archived: () => reject('Campaign is archived', 409),
	'first rejected': () => reject('contacts[0] is invalid'),
	skipped: (phones) =>
		json(200, { success: true, data: { campaign_upload_id: 1, dnd_skipped: phones } }),
	'does not add up': (phones) =>
		json(200, {
			success: true,
			data: { campaign_upload_id: 1, contacts_accepted: phones.length + 1 },
		}),
};

const NOTHING = /\bnothing (?:was|is|has been) (?:done|sent|pushed)\b/i;
const cell = fc.oneof(
	{ weight: 4, arbitrary: fc.integer({ min: 0, max: 5 }).map(phone) },
	{ weight: 1, arbitrary: fc.constantFrom('', 'x') },
);

test('no message says that nothing was sent if something was, for any outcome', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(cell, { minLength: 1, maxLength: 6 }),
			fc.array(fc.constantFrom(...Object.keys(SCRIPTS)), { minLength: 1, maxLength: 5 }),
			fc.integer({ min: 1, max: 3 }),
			fc.boolean(),
			async (phones, scripts, contactsPerRequest, isTriedAgain) => {
				const { options, sent } = scripted((numbers, request) =>
					(SCRIPTS[scripts[Math.min(request, scripts.length) - 1] ?? ''] ?? accept)(
						numbers,
						request,
					),
				);
				const items = phones.map((written) => ({ json: { phone: written } }));
				const record = {};
				const settings = { ...options, contactsPerRequest };
				let outcome = await push(items, settings, record);
				if (isTriedAgain) outcome = await push(items, settings, stored(record));
				const { stopped, notPushed } = outcome;
				const { pushed, unknown } = countRows(outcome);
				const texts = [
					...Object.values(describeOutcome(outcome)).flat(),
					...hintsFor(outcome),
					...(stopped === undefined ? [] : [stopped.message, stopped.description]),
					...Array.from(notPushed, ({ reason }) => reason),
				];
				const saysNothing = texts.filter((text) => NOTHING.test(text));
				if (sent.length > 0) expect(saysNothing).toEqual([]);
				// The kept row may be rejected, or not reached.
				for (const { status, reason } of notPushed) {
					if (status === 'duplicate') expect(reason).not.toMatch(/\b(?:is|was) (?:sent|pushed)\b/);
				}
				for (const text of texts) {
					for (const [, count] of text.matchAll(/\b([\d,]+) pushed\b/g)) {
						expect(count).toBe(String(pushed));
					}
				}
				const isToCompare = texts.some((text) => /may or may not be in the campaign/.test(text));
				expect(isToCompare).toBe(unknown > 0);
			},
		),
		{ numRuns: 400 },
	);
});
