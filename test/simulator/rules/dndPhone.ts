import type { Dialect } from '../dialects';
import { digitsOf } from './phone';

/** International form of a number in a format that the dialect accepts, otherwise null. */
export function dndPhone(value: string, forms: Dialect['dnd']['phoneForms']): string | null {
	const text = value.trim();
	const digits = digitsOf(text);
	if (forms === 'international') return /^\+\d{8,15}$/.test(text) ? text : null;
	if (forms === 'digits' && !/^\+?\d+$/.test(text)) return null;
	if (/^[6-9]\d{9}$/.test(digits)) return `+91${digits}`;
	return digits.length >= 8 && digits.length <= 15 ? `+${digits}` : null;
}
