import type { JsonValue } from '../types';
import type { FeedOutcome } from './feed';
import { countRows, rowCount } from './report';
import { joined, unique } from './summary';

/** What a person should see at a glance beside the output. */
export function hintsFor(outcome: FeedOutcome): string[] {
	const { received, pushed, rejected, duplicate } = countRows(outcome);
	const skipped = joined(outcome, 'dnd_skipped').length;
	const nothing = pushed === 0 && outcome.stopped === undefined;
	return [
		outcome.stopped && `${outcome.stopped.message}. ${outcome.stopped.todo}`,
		nothing && received === 0 && 'The feed is empty, so nothing was sent.',
		nothing && received > 0 && 'No row could be used, so nothing was sent. Rejected says why.',
		pushed > 0 && rejected > 0 && `${rowCount(rejected)} not pushed: Rejected says why.`,
		duplicate > 0 && `${rowCount(duplicate)} left out, because another row has the same number.`,
		skipped > 0 && `${rowCount(skipped)} skipped by the service: on the do-not-disturb list.`,
		...unique(joined(outcome, 'warnings')).map(
			(warning) => `The service warns: ${asText(warning)}`,
		),
	].filter((hint) => typeof hint === 'string');
}

function asText(value: JsonValue): string {
	return typeof value === 'string' ? value : JSON.stringify(value);
}
