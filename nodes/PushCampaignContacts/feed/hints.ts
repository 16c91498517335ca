import type { JsonValue } from '../../shared/json';
import type { FeedOutcome } from './feed';
import { countRows, sumUp, unmatchedIn } from './report';
import { joined, unique } from './summary';

/** What a person should see at a glance beside the output, first of all what became of the rows. */
export function hintsFor(outcome: FeedOutcome): string[] {
	const { received, duplicate } = countRows(outcome);
	const { unsentRows, stopped, pushed } = outcome;
	const nothing = pushed.length === 0 && stopped === undefined;
	const says = unsentRows.length > duplicate ? ' Rejected says why.' : '';
	return [
		nothing && received === 0 && 'The feed is empty, so nothing was sent.',
		nothing && received > 0 && `No row could be used, so nothing was sent.${says}`,
		!nothing && unsentRows.length > 0 && sumUp(outcome) + says,
		stopped && `${stopped.message}. ${stopped.resolution}`,
		...unmatchedIn(outcome),
		...unique(joined(outcome, 'warnings')).map(
			(warning) => `The service warns: ${asText(warning)}`,
		),
	].filter((hint) => typeof hint === 'string');
}

function asText(value: JsonValue): string {
	return typeof value === 'string' ? value : JSON.stringify(value);
}
