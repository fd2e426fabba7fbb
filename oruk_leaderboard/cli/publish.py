"""``publish``: push the built repository to the Hub."""

import argparse

from oruk_leaderboard.cli import DONE, FINDINGS
from oruk_leaderboard.cli.output import add_json, progress, write_json, write_text
from oruk_leaderboard.records.addresses import REPO


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``publish``."""
    parser.add_argument("--repo", default=REPO, metavar="ID", help=f"repository on the Hub (default {REPO})")
    parser.add_argument("--dry-run", action="store_true", help="send nothing, list what would change")
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard publish --dry-run"


def run(args: argparse.Namespace) -> int:
    """Push and print the revision to cite; 1 for a dry run that could not be followed by a real one."""
    from oruk_leaderboard.release.publication import publish

    if args.json:
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()  # its own, of uploads
    with progress(args, unit="file") as begin:
        done = publish(repo=args.repo, dry_run=args.dry_run, progress=begin)
    if args.json:
        write_json(done.to_dict())
        return FINDINGS if done.blocked else DONE
    lines = [f"add     {name}" for name in done.added] + [f"update  {name}" for name in done.updated]
    lines += [f"keep    {name} (only on the Hub)" for name in done.kept]
    lines += [f"hold    {name}: {reason}" for name, reason in done.held_back.items()]
    lines += [f"leave   {name} (not among the published files)" for name in done.left_out]
    changes = f"{len(done.added)} to add, {len(done.updated)} to update, {done.unchanged} unchanged"
    if done.parent is None:
        lines.append(f"dry run: Hub not reached; {len(done.added)} files would be published as {done.tag}")
    elif done.revision is None:
        lines.append(f"dry run: {changes}; would become {done.tag} on top of {done.parent}")
    else:
        lines.append(f"{changes}; {done.tag} is revision {done.revision}")
    if done.blocked:
        lines.append(f"blocked: {done.blocked}")
    write_text("\n".join(lines))
    return FINDINGS if done.blocked else DONE
