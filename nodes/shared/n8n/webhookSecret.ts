import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { explained, type ExplainedError, InvalidInput } from '../api/errors';
import { isSecret } from '../hash';
import { toNodeError } from './nodeErrors';
import { RareNotice } from './rareNotice';

type TriggerContext = ITriggerFunctions | IWebhookFunctions;

/**
 * The secret that a request to this trigger must have.
 *
 * @returns undefined if the field is empty, which means that no secret is wanted; an expression always wants one
 * @throws InvalidInput if a secret is wanted and the field gives none
 */
export function readSecret(context: TriggerContext, parameter: string): string | undefined {
	const raw: unknown = context.getNodeParameter(parameter, '', { rawExpressions: true });
	if (raw === '') return undefined;
	const isExpression = typeof raw === 'string' && raw.startsWith('=');
	const value = isExpression ? evaluated(context, parameter) : raw;
	const text = secretText(value);
	if (text !== undefined) return text;
	const got = isExpression
		? `, but its expression returned ${kindOf(value)}`
		: ` (got ${kindOf(value)})`;
	throw new InvalidInput(
		value instanceof Error
			? "n8n can't evaluate the expression of 'Secret'"
			: `'Secret' must be text${got}`,
		'Correct the secret. No request is accepted without it.',
	);
}

/** The same where a secret is always wanted. */
export function requireSecret(context: TriggerContext, parameter: string): string {
	const secret = readSecret(context, parameter);
	if (secret !== undefined) return secret;
	throw new InvalidInput("'Secret' is empty", 'Enter a secret. No request is accepted without it.');
}

/** `unusable`: nobody can have the secret, because its field gives none. */
export type SecretCheck = { kind: 'passed' | 'wrong' } | { kind: 'unusable'; why: ExplainedError };

/** @param read as above */
export function checkSecret(given: unknown, read: () => string | undefined): SecretCheck {
	try {
		const wanted = read();
		const text = typeof given === 'string' ? given.trim() : undefined;
		return { kind: wanted === undefined || isSecret(text, wanted) ? 'passed' : 'wrong' };
	} catch (error) {
		return { kind: 'unusable', why: explained(error) };
	}
}

/** Tells the owner about requests that were rejected because no secret could be right. */
export function secretNotice(
	trigger: ITriggerFunctions,
	signal: AbortSignal,
): RareNotice<ExplainedError> {
	return new RareNotice(signal, (times, { message, resolution }) => {
		const requests = times === 1 ? 'A request was' : `${times} requests were`;
		const error = new InvalidInput(`${requests} rejected: ${message}`, resolution);
		trigger.saveFailedExecution(toNodeError(trigger.getNode(), error));
	});
}

/** @returns the error where n8n cannot evaluate it */
function evaluated(context: TriggerContext, parameter: string): unknown {
	try {
		return context.getNodeParameter(parameter, '');
	} catch (error) {
		return error;
	}
}

/** White space around it is left out, as HTTP does with what a header has. A number that is not exact is no secret. */
function secretText(value: unknown): string | undefined {
	const isExact = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
	const text = typeof value === 'string' || isExact ? String(value).trim() : '';
	return text === '' ? undefined : text;
}

/** What a value is, without showing it. */
function kindOf(value: unknown): string {
	if (value === undefined || value === null) return 'nothing';
	if (typeof value === 'string') return 'an empty text';
	if (typeof value === 'number') return 'a number that is not exact';
	if (Array.isArray(value)) return 'a list';
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
